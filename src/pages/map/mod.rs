//! The live map: a list of floods that needs no script, and a map that updates itself. All its files are part of the program.

mod files;
mod list;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use minijinja::value::Serde;
use rocket::http::Header;
use rocket::tokio::sync::{Mutex, MutexGuard};
use rocket::tokio::time;
use rocket::{Responder, State, get};
use serde_json::json;

pub(crate) use self::files::Files;
use self::list::{List, Moment};
use crate::changes::Cursor;
use crate::config::{Config, Tiles};
use crate::error::Problem;
use crate::formats::topojson::TopoJson;
use crate::formats::{Format, FormatRegistry, html};
use crate::guards::{Caller, Language, Select};
use crate::model::{AreaSelector, AreaSet, Covered, FloodState, LayerKind, Timestamp};
use crate::pages::others;
use crate::rendering::{Answer, Answers, HTML, Question, prepared};
use crate::resources::Floods;
use crate::sources::Sources;
use crate::stores::{FloodQuery, LayerQuery};
use crate::tasks::off_thread;

const PAGE: &str = include_str!("page.html");

/// How long a page is reused: any number of visits in this time costs one look at the store.
const MAX_AGE: Duration = Duration::from_secs(2);
/// How often a page looks how current the data is, in milliseconds.
const CHECK: u32 = 60_000;

/// The pages of the last seconds, by language and selected areas.
#[derive(Debug, Default)]
pub(crate) struct Pages(Mutex<HashMap<Key, (Instant, Answer)>>);

/// The code of the language, and the selected areas.
type Key = (String, AreaSelector);

impl Pages {
    async fn recent(&self, key: &Key) -> Option<Answer> {
        Some(self.lock().await.get(key)?.1.clone())
    }

    /// Returns the recent page, or else makes it: one request makes it, and the others wait for it.
    async fn recent_or<F>(&self, key: Key, make: impl FnOnce(Key) -> F) -> Result<Answer, Problem>
    where
        F: Future<Output = Result<Answer, Problem>>,
    {
        let mut pages = self.lock().await;
        if let Some((_, page)) = pages.get(&key) {
            return Ok(page.clone());
        }
        let page = make(key.clone()).await?;
        pages.insert(key, (Instant::now(), page.clone()));
        Ok(page)
    }

    /// Locks the pages, without those that are too old.
    async fn lock(&self) -> MutexGuard<'_, HashMap<Key, (Instant, Answer)>> {
        let mut pages = self.0.lock().await;
        pages.retain(|_, (at, _)| at.elapsed() < MAX_AGE);
        pages
    }
}

/// The floods that a page shows.
struct Shown {
    /// `None` if they cannot be read, and were not read before.
    list: Option<List>,
    /// Since when they may be out of date, and how long ago that is.
    stale: Option<(Timestamp, Duration)>,
}

/// The page, with its own policies.
#[derive(Responder)]
pub(super) struct Page {
    answer: Answer,
    security: Header<'static>,
    referrer: Header<'static>,
    language: Header<'static>,
    vary: Header<'static>,
}

/// `GET /map`: responds with the page, also while the store is away: then with the last floods that were read, and their time.
#[get("/map")]
pub(super) async fn show(
    _caller: Caller,
    select: Select<Floods>,
    language: Language,
    answers: Answers,
    pages: &State<Pages>,
    formats: &State<FormatRegistry>,
    config: &State<Config>,
) -> Result<Page, Problem> {
    let key = (language.code().to_owned(), select.areas);
    let answer = if let Some(recent) = pages.recent(&key).await {
        recent
    } else {
        // The page follows the changes from here on. The states that it shows are not older, unless they are stale.
        let cursor = answers.follower.states().borrow().as_ref().map(|state| state.cursor());
        let shown = Shown::of(&answers, question(&key.1, formats), config).await;
        let areas = time::timeout(config.limits.timeout, answers.follower.areas()).await;
        let areas = areas.ok().and_then(Result::ok).unwrap_or_default();
        let make = async |(_, selector)| {
            render(&language, selector, shown, cursor, &areas, &answers.sources, config).await
        };
        pages.recent_or(key, make).await?
    };
    Ok(Page {
        answer,
        security: Header::new("Content-Security-Policy", policy(config)),
        referrer: Header::new("Referrer-Policy", referrer(config)),
        language: Header::new("Content-Language", language.code().to_owned()),
        vary: Header::new("Vary", "Accept-Encoding, Accept-Language"),
    })
}

impl Shown {
    /// Returns the floods of the response to a question. An error is logged: the page is there without them.
    async fn of(answers: &Answers, question: Question, config: &Config) -> Self {
        let (deadline, zone) = (time::Instant::now() + config.limits.timeout, config.time_zone);
        let reading = async {
            let Some((rendered, stale)) = answers.rendered(&question, deadline).await? else {
                return Ok::<_, Problem>(None);
            };
            let reading = off_thread(move |_| List::of(rendered.content.bytes(), zone)).await;
            let list = reading.map_err(Problem::internal)?.map_err(Problem::internal)?;
            Ok(Some((list, stale)))
        };
        match reading.await {
            Ok(Some((list, stale))) => Self { list: Some(list), stale },
            Ok(None) => Self { list: None, stale: None },
            Err(problem) => {
                problem.log_cause("the page of the map has no floods");
                Self { list: None, stale: None }
            }
        }
    }
}

/// Returns the question that the script of the page asks, too.
fn question(selector: &AreaSelector, formats: &FormatRegistry) -> Question {
    let query = FloodQuery { selector: selector.clone(), minimum_state: Some(FloodState::Unknown) };
    let mut enabled = formats.carrying(LayerKind::Floods);
    let format = enabled.find(|format| format.name() == TopoJson::NAME).cloned();
    let format = format.unwrap_or_else(|| Arc::new(TopoJson::default()) as Arc<dyn Format>);
    Question::Layer(LayerQuery::Floods(query), format)
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
    language: &Language,
    selector: AreaSelector,
    Shown { list, stale }: Shown,
    cursor: Option<Cursor>,
    areas: &AreaSet,
    sources: &Sources,
    config: &Config,
) -> Result<Answer, Problem> {
    let is_known = list.is_some();
    let list = list.unwrap_or_default();
    // What is stale may be older than the cursor.
    let cursor = cursor.filter(|_| is_known && stale.is_none());
    let texts = language.texts();
    let (texts, depths) = (texts.group("map"), texts.group("depths"));
    let reports = sources.reports();
    let is_silent = sources.is_silent(Covered::Floods);
    let has_no_areas = is_known && stale.is_none() && areas.is_empty();
    let empty = match (has_no_areas, selector.is_everything()) {
        (true, _) => &texts["noAreas"],
        (false, true) => &texts["none"],
        (false, false) => &texts["noneHere"],
    };
    let said = match (is_known, is_silent) {
        (false, _) => &texts["away"],
        (true, true) => &texts["noneSilent"],
        (true, false) => empty,
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
        "known": is_known,
        "stale": stale.map(|(since, _)| since),
        "check": CHECK,
    });
    let cities: BTreeSet<_> = areas.codes().iter().map(|(city, _)| city.clone()).collect();
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
        others => Serde(others(language, config)),
        t => Serde(texts),
        depths => Serde(depths),
        settings => settings.to_string(),
        total => list.total(),
        newest => Serde(list.newest()),
        groups => Serde(list.groups()),
        states => Serde(states),
        silent => is_silent,
        sources => Serde(sources),
        empty => said.as_str(),
        stale => Serde(stale.map(|(since, _)| Moment::of(since, config.time_zone))),
        cities => cities,
        city => selector.city.clone(),
        licence => Serde(&config.licence),
    };
    let page = html::render(PAGE, values).map_err(Problem::internal)?;
    let page = Answer::shared(&prepared(HTML, page.into_bytes()).await?);
    Ok(match stale {
        Some((since, age)) => page.stale_since(since, age),
        None => page,
    })
}
