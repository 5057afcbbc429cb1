//! The live map: a list of floods that needs no script, and a map that updates itself. All its files are part of the program.

mod cache;
mod list;
mod names;
mod page;
mod selected_area;

use std::sync::Arc;
use std::time::Duration;

use rocket::http::Header;
use rocket::tokio::time;
use rocket::{Responder, State, get};

use self::cache::PageCache;
pub(crate) use self::names::Names;
use self::page::{MapData, Page, Version};
use crate::config::{Config, Tiles};
use crate::data::statements::FloodData;
use crate::guards::{AreaFilter, Caller, Language};
use crate::http::error::Problem;
use crate::model::{AreaSelector, SourceStatus, Timestamp};
use crate::pages::files::{Files, bare};
use crate::pages::layout::Layout;
use crate::pages::reported::FloodReports;
use crate::rendering::basemap::Basemap;
use crate::rendering::{ApiResponse, JSON, ResponseCache, prepared};
use crate::runtime::off_thread;
use crate::schema::resources;
use crate::stores::Store;

/// How long the data of a page is reused while it changes: any number of visits in this time costs one reading of the states.
const MAX_AGE: Duration = Duration::from_secs(2);
const MINUTE: Duration = Duration::from_mins(1);

/// The style sheets of the page.
const STYLES: [&str; 2] = [include_str!("module/view.css"), include_str!("map.css")];

/// The pages of the last minute, and what they were made from.
#[derive(Debug)]
pub(crate) struct Pages {
    shown: PageCache<AreaSelector, Version, Arc<MapData>>,
    rendered: PageCache<(String, AreaSelector), RenderedVersion, ApiResponse>,
    hazards: PageCache<String, (), ApiResponse>,
    reports: FloodReports,
    styles: String,
}

/// The version of the data, the minute, and the sources: a rendered page depends on nothing else.
type RenderedVersion = (Version, Timestamp, Vec<SourceVersion>);

/// The status of a source, and the minute in which it was last heard.
type SourceVersion = (SourceStatus, Option<Timestamp>);

impl Default for Pages {
    fn default() -> Self {
        Self {
            shown: PageCache::new(MAX_AGE),
            rendered: PageCache::new(Duration::ZERO),
            hazards: PageCache::new(Duration::ZERO),
            reports: FloodReports::default(),
            styles: STYLES.map(bare).concat(),
        }
    }
}

/// A page about what the service knows, or one that says what it does not.
#[derive(Responder)]
enum Body {
    Known(ApiResponse),
    #[response(status = 404, content_type = "html")]
    Unknown(String),
}

/// The page, with its own policies.
#[derive(Responder)]
pub(super) struct MapPage {
    body: Body,
    security: Header<'static>,
    referrer: Header<'static>,
    language: Header<'static>,
    vary: Header<'static>,
}

/// What the script of the service worker may do: request from this service.
const WORKER: &str = "default-src 'none'; connect-src 'self'";

/// The script of the service worker, with its own policy.
#[derive(Responder)]
pub(super) struct Worker {
    script: ApiResponse,
    security: Header<'static>,
}

/// `GET /map`: responds with the page, also while the store is away: then with the last floods that were read, and their time. A city or
/// an area that the service does not know is a page, too: people make these addresses by hand.
#[get("/map?<area>&<city>&<list>")]
#[expect(clippy::too_many_arguments, reason = "each is a guard")]
pub(super) async fn show(
    _caller: Caller,
    select: Result<AreaFilter<resources::Floods>, Problem>,
    area: Option<&str>,
    city: Option<&str>,
    list: Option<&str>,
    language: Language,
    answers: ResponseCache,
    pages: &State<Pages>,
    shell: &State<Layout>,
    basemap: &State<Basemap>,
    store: &State<Arc<dyn Store>>,
    config: &State<Config>,
) -> Result<MapPage, Problem> {
    let (selector, unknown_city) = match (select, city) {
        (Ok(select), _) => (select.areas, None),
        (Err(_), Some(city)) => (AreaSelector::default(), Some(city)),
        (Err(problem), None) => return Err(problem),
    };
    let (state, floods) = answers.floods().await;
    let version = Version::new(state.as_deref(), floods);
    let read = async |selector: &AreaSelector| {
        let reading = async {
            let ground = if floods == FloodData::Now {
                time::timeout(config.limits.timeout, basemap.ground(&***store))
                    .await
                    .ok()
                    .and_then(Result::ok)
            } else {
                basemap.last_ground().await
            };
            let ground = ground.map(|ground| ground.version.clone());
            let areas = answers.follower.states().borrow().as_ref().map(|state| Arc::clone(state.areas()));
            let (state, selector, zone) = (state.clone(), selector.clone(), config.time_zone);
            let known = (floods, areas.unwrap_or_default());
            off_thread(move |_| Arc::new(MapData::new(state.as_deref(), known, &selector, zone, ground)))
                .await
                .map_err(Problem::internal)
        };
        pages.shown.get(selector.clone(), version, reading).await
    };
    let mut selector = selector;
    let mut shown = read(&selector).await?;
    if area.and_then(|id| shown.area(id)).is_some_and(|area| !selector.matches(area)) {
        // The floods of one city say nothing about an area elsewhere.
        selector = AreaSelector::default();
        shown = read(&selector).await?;
    }
    let now = answers.now();
    let reported = match area.and_then(|id| shown.area(id)).filter(|_| shown.is_current()) {
        Some(area) => {
            let (changed, within) = (shown.changed(area), config.attention.suggesting_within);
            let reading = pages.reports.find(&***store, area.id, changed, now, within);
            time::timeout(config.limits.timeout, reading).await.ok().and_then(Result::ok)
        }
        None => None,
    };
    let sources = answers.sources.reports();
    let page = Page {
        shown: &shown,
        language: &language,
        selector: &selector,
        area,
        unknown_city,
        is_whole: list == Some("all"),
        reported,
        sources: &sources,
        styles: &pages.styles,
    };
    let body = if page.is_unknown() {
        Body::Unknown(page.written(&answers, shell, config)?)
    } else if page.is_plain() {
        let heard = sources.iter().map(|of| (of.status, of.last_heard.map(|at| at.floor(MINUTE))));
        let version = (shown.version, now.floor(MINUTE), heard.collect());
        let key = (language.code().to_owned(), selector.clone());
        let rendered = pages.rendered.get(key, version, page.render(&answers, shell, config)).await?;
        Body::Known(page.dated(rendered, now))
    } else {
        Body::Known(page.dated(page.render(&answers, shell, config).await?, now))
    };
    Ok(MapPage {
        body,
        security: Header::new("Content-Security-Policy", policy(config)),
        referrer: Header::new("Referrer-Policy", referrer(config)),
        language: Header::new("Content-Language", language.code().to_owned()),
        vary: Header::new("Vary", "Accept-Encoding, Accept-Language"),
    })
}

/// `GET /map/:file`: responds with a file that the page loads.
#[get("/map/<file>", rank = 2)]
pub(super) async fn find_file(
    _caller: Caller,
    file: &str,
    files: &State<Files>,
) -> Result<ApiResponse, Problem> {
    files.find("/map/", file).await
}

/// `GET /map/hazards`: responds with the hazards of the country, in words, for the reports of the page.
#[get("/map/hazards", rank = 1)]
pub(super) async fn list_hazards(
    _caller: Caller,
    language: Language,
    pages: &State<Pages>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let writing = async {
        let texts = language.translations();
        let mut hazards = texts.hazards(config.country.data().hazards());
        hazards["words"] = texts.group("words").clone();
        let body = serde_json::to_vec(&hazards).map_err(Problem::internal)?;
        Ok::<_, Problem>(ApiResponse::shared(&prepared(JSON, body).await?))
    };
    pages.hazards.get(language.code().to_owned(), (), writing).await
}

/// `GET /sw.js`: responds with the script that keeps the page for readers without a network. It lies at the root, because a script
/// rules only what is below it.
#[get("/sw.js")]
pub(super) async fn find_worker(_caller: Caller, files: &State<Files>) -> Result<Worker, Problem> {
    let script = files.find("/map/", "sw.js").await?;
    Ok(Worker { script, security: Header::new("Content-Security-Policy", WORKER) })
}

/// `GET /map/names`: responds with the names of all areas, and of the places of the base map.
#[get("/map/names", rank = 1)]
pub(super) async fn list_names(
    _caller: Caller,
    answers: ResponseCache,
    names: &State<Names>,
    basemap: &State<Basemap>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let areas = time::timeout(config.limits.timeout, answers.follower.areas()).await;
    let areas = areas.map_err(Problem::slow_store)??;
    Ok(ApiResponse::shared(&names.index(areas, basemap).await?))
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
