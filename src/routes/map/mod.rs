//! The live map: a list of floods that needs no script, and a map that updates itself. All its files are part of the program.

mod files;
mod list;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use minijinja::value::Serde;
use rocket::http::Header;
use rocket::tokio::sync::Mutex;
use rocket::tokio::time::timeout;
use rocket::{Responder, State, get};
use serde_json::json;

pub(crate) use self::files::Files;
use self::list::{List, Moment};
use super::Answer;
use super::answer::{HTML, prepared};
use super::texts::Texts;
use crate::cache::Rendered;
use crate::changes::{Cursor, Follower};
use crate::config::{Config, Covered, Tiles};
use crate::error::Problem;
use crate::formats::html;
use crate::guards::{Caller, Language, Select};
use crate::model::{AreaSelector, FloodState, LayerKind};
use crate::resources::Floods;
use crate::sources::Sources;
use crate::stores::{FloodQuery, Store};

const PAGE: &str = include_str!("page.html");

/// How long a page is reused: any number of visits in this time costs one look at the store.
const MAX_AGE: Duration = Duration::from_secs(2);
/// How often a page looks how current the data is, in milliseconds.
const CHECK: u32 = 60_000;

/// The pages of the last seconds, by language and selected areas.
#[derive(Debug, Default)]
pub(crate) struct Pages(Mutex<HashMap<(Language, AreaSelector), (Instant, Rendered)>>);

/// The page, with its own policies.
#[derive(Responder)]
pub(super) struct Page {
    answer: Answer,
    security: Header<'static>,
    referrer: Header<'static>,
    language: Header<'static>,
    vary: Header<'static>,
}

/// `GET /map`: responds with the page.
#[get("/map")]
pub(super) async fn show(
    _caller: Caller,
    select: Select<Floods>,
    language: Language,
    pages: &State<Pages>,
    store: &State<Arc<dyn Store>>,
    sources: &State<Sources>,
    follower: &State<Follower>,
    config: &State<Config>,
) -> Result<Page, Problem> {
    let rendering = async {
        // One request renders, and the others wait for it.
        let mut pages = pages.0.lock().await;
        pages.retain(|_, (at, _)| at.elapsed() < MAX_AGE);
        let key = (language, select.areas);
        if let Some((_, page)) = pages.get(&key) {
            return Ok(page.clone());
        }
        // The page follows the changes from here on. The states that it shows are not older.
        let cursor = follower.states().borrow().as_ref().map(|state| state.cursor());
        let page = render(language, &key.1, cursor, &***store, sources, config).await?;
        pages.insert(key, (Instant::now(), page.clone()));
        Ok(page)
    };
    let rendered = timeout(config.limits.timeout, rendering).await.map_err(Problem::late).flatten()?;
    Ok(Page {
        answer: Answer::shared(&rendered),
        security: Header::new("Content-Security-Policy", policy(config)),
        referrer: Header::new("Referrer-Policy", referrer(config)),
        language: Header::new("Content-Language", language.code()),
        vary: Header::new("Vary", "Accept-Encoding, Accept-Language"),
    })
}

/// `GET /map/:file`: responds with a file that the page loads.
#[get("/map/<file>")]
pub(super) async fn find_file(_caller: Caller, file: &str, files: &State<Files>) -> Result<Answer, Problem> {
    files.find(file).await?.map(Answer::shared).ok_or_else(|| Problem::not_found("this file"))
}

/// Only files of the page run, and only the configured hosts are requested.
fn policy(config: &Config) -> String {
    let tiles = config.map.tiles.as_ref().map(Tiles::origin).unwrap_or_default();
    let photos = config.photos_url();
    let photos = url::Url::parse(&photos).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    let embed = if config.map.embed.is_empty() { "'none'".to_owned() } else { config.map.embed.join(" ") };
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
         img-src 'self' data: {photos} {tiles}; base-uri 'none'; form-action 'self'; frame-ancestors {embed}"
    )
}

/// Hosts of base maps want to know the site; nobody else is told.
fn referrer(config: &Config) -> &'static str {
    if config.map.tiles.is_some() { "strict-origin-when-cross-origin" } else { "no-referrer" }
}

async fn render(
    language: Language,
    selector: &AreaSelector,
    cursor: Option<Cursor>,
    store: &dyn Store,
    sources: &Sources,
    config: &Config,
) -> Result<Rendered, Problem> {
    let query = FloodQuery { selector: selector.clone(), minimum_state: Some(FloodState::Unknown) };
    let floods = store.floods(&query).await?.value;
    let list = List::of(&floods, config.time_zone);
    let Texts { pages, .. } = Texts::of(language).map_err(Problem::internal)?;
    let (texts, depths) = (&pages["map"], &pages["depths"]);
    let reports = sources.reports();
    let is_silent = sources.is_silent(Covered::Floods);
    let empty = match (floods.areas().is_empty(), selector.is_everything()) {
        (true, _) => &texts["noAreas"],
        (false, true) => &texts["none"],
        (false, false) => &texts["noneHere"],
    };
    let colours: HashMap<_, _> = FloodState::ALL.map(|state| (state.code(), state.colour())).into();
    let settings = json!({
        "base": config.base_url.path().trim_end_matches('/'),
        "language": language.code(),
        "timeZone": config.time_zone.name(),
        "texts": texts,
        "depths": depths,
        "colours": colours,
        "city": selector.city,
        "cursor": cursor.map(|cursor| cursor.to_string()),
        "licence": config.licence.terms,
        "tiles": config.map.tiles,
        "photos": config.photos_url(),
        "empty": empty,
        "check": CHECK,
    });
    let cities: BTreeSet<_> = floods.areas().codes().iter().map(|(city, _)| city.clone()).collect();
    let can_select = !config.areas.supported.by(LayerKind::Floods).city.is_empty();
    let cities: Vec<_> = cities.into_iter().filter(|city| can_select && !city.is_empty()).collect();
    let states =
        FloodState::ALL.map(|state| json!({ "code": state.code().to_string(), "count": list.count(state) }));
    let sources: Vec<_> = reports
        .iter()
        .map(|of| {
            let heard = of.last_heard.map(|at| Moment::of(at, config.time_zone));
            json!({ "name": of.name, "status": of.status, "heard": heard })
        })
        .collect();
    let values = minijinja::context! {
        language => language.code(),
        t => Serde(texts),
        depths => Serde(depths),
        settings => settings.to_string(),
        total => list.total(),
        newest => Serde(list.newest()),
        groups => Serde(list.groups()),
        states => Serde(states),
        silent => is_silent,
        sources => Serde(sources),
        empty => if is_silent { texts["noneSilent"].as_str() } else { empty.as_str() },
        cities => cities,
        city => selector.city.clone(),
        licence => Serde(&config.licence),
    };
    let page = html::render(PAGE, values).map_err(Problem::internal)?;
    prepared(HTML, page.into_bytes()).await
}
