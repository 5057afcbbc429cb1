//! The live map: a list of floods that works without a script, and a map that updates itself. All files are built in.

mod flood_list;
mod names;
mod page;
mod page_cache;
pub(super) mod picture;
pub(super) mod push;
mod selected_area;
mod shared_link;
pub(super) mod streets;
pub(super) mod trend;

use std::sync::Arc;
use std::time::Duration;

use rocket::http::Header;
use rocket::tokio::time;
use rocket::{Responder, State, get};

pub(crate) use self::names::NameIndex;
use self::page::{MapData, Page, Version};
use self::page_cache::PageCache;
pub(crate) use self::picture::Pictures;
pub(crate) use self::trend::Trends;
use crate::config::{Config, Tiles};
use crate::data::statements::FloodData;
use crate::guards::{AreaFilter, Caller, Language};
use crate::http::error::Problem;
use crate::model::{AreaSelector, SourceStatus, Timestamp};
use crate::pages::assets::{Assets, minify};
use crate::pages::flood_reports::FloodReports;
use crate::pages::layout::Layout;
use crate::push::PushService;
use crate::rendering::basemap::Basemap;
use crate::rendering::{ApiResponse, JSON, ResponseCache, precompress};
use crate::runtime::off_thread;
use crate::schema::resources;
use crate::stores::Store;

/// The minimum time between two reads of the states, for any number of visitors.
const MAX_AGE: Duration = Duration::from_secs(2);
const MINUTE: Duration = Duration::from_mins(1);

const STYLES: [&str; 2] = [include_str!("module/view.css"), include_str!("map.css")];

/// Caches the pages of the last minute, and their data.
#[derive(Debug)]
pub(crate) struct Pages {
    data: PageCache<AreaSelector, Version, Arc<MapData>>,
    rendered: PageCache<(String, AreaSelector), RenderedVersion, ApiResponse>,
    hazards: PageCache<String, (), ApiResponse>,
    reports: FloodReports,
    styles: String,
}

/// All that a rendered page depends on: version of the data, minute, and sources.
type RenderedVersion = (Version, Timestamp, Vec<SourceVersion>);

/// The status of a source, and the minute of its last report.
type SourceVersion = (SourceStatus, Option<Timestamp>);

impl Default for Pages {
    fn default() -> Self {
        Self {
            data: PageCache::new(MAX_AGE),
            rendered: PageCache::new(Duration::ZERO),
            hazards: PageCache::new(Duration::ZERO),
            reports: FloodReports::default(),
            styles: STYLES.map(minify).concat(),
        }
    }
}

#[derive(Responder)]
enum Body {
    Found(ApiResponse),
    #[response(status = 404, content_type = "html")]
    NotFound(String),
}

#[derive(Responder)]
pub(super) struct MapPage {
    body: Body,
    security: Header<'static>,
    referrer: Header<'static>,
    language: Header<'static>,
    vary: Header<'static>,
}

/// The content security policy of the service worker, which may only send requests to this service.
const WORKER_POLICY: &str = "default-src 'none'; connect-src 'self'";

#[derive(Responder)]
pub(super) struct Worker {
    script: ApiResponse,
    security: Header<'static>,
}

/// Responds with the page. While the store is unavailable, the page shows the floods that were read last, and their time.
/// Responds with a page also for an unknown city or area, because people edit these addresses by hand.
#[get("/map?<area>&<city>&<list>")]
#[expect(clippy::too_many_arguments, reason = "each is a guard")]
pub(super) async fn show(
    _caller: Caller,
    select: Result<AreaFilter<resources::Floods>, Problem>,
    area: Option<&str>,
    city: Option<&str>,
    list: Option<&str>,
    language: Language,
    cache: ResponseCache,
    pages: &State<Pages>,
    layout: &State<Layout>,
    basemap: &State<Basemap>,
    store: &State<Arc<dyn Store>>,
    config: &State<Config>,
    push: &State<Option<PushService>>,
) -> Result<MapPage, Problem> {
    let (selector, unknown_city) = match (select, city) {
        (Ok(select), _) => (select.areas, None),
        (Err(_), Some(city)) => (AreaSelector::default(), Some(city)),
        (Err(problem), None) => return Err(problem),
    };
    let (state, floods) = cache.floods().await;
    let version = Version::new(state.as_deref(), floods);
    let read = async |selector: &AreaSelector| {
        let create = async {
            let snapshot = if floods == FloodData::Now {
                time::timeout(config.limits.timeout, basemap.snapshot(&***store))
                    .await
                    .ok()
                    .and_then(Result::ok)
            } else {
                basemap.last_snapshot().await
            };
            let snapshot = snapshot.map(|snapshot| snapshot.version.clone());
            let areas = cache.follower.states().borrow().as_ref().map(|state| Arc::clone(state.areas()));
            let (state, selector, zone) = (state.clone(), selector.clone(), config.time_zone);
            let floods_and_areas = (floods, areas.unwrap_or_default());
            off_thread(move |_| {
                Arc::new(MapData::new(state.as_deref(), floods_and_areas, &selector, zone, snapshot))
            })
            .await
            .map_err(Problem::internal)
        };
        pages.data.get(selector.clone(), version, create).await
    };
    let mut selector = selector;
    let mut data = read(&selector).await?;
    if area.and_then(|id| data.area(id)).is_some_and(|area| !selector.matches(area)) {
        // Ignores the city, because the area is outside it.
        selector = AreaSelector::default();
        data = read(&selector).await?;
    }
    let now = cache.now();
    let reports = match area.and_then(|id| data.area(id)).filter(|_| data.is_current()) {
        Some(area) => {
            let (changed, within) = (data.changed(area), config.attention.suggesting_within);
            let find = pages.reports.find(&***store, area.id, changed, now, within);
            time::timeout(config.limits.timeout, find).await.ok().and_then(Result::ok)
        }
        None => None,
    };
    let sources = cache.sources.reports();
    let page = Page {
        data: &data,
        language: &language,
        selector: &selector,
        has_land: basemap.has_land(),
        area,
        unknown_city,
        lists_all: list == Some("all"),
        reports,
        sources: &sources,
        styles: &pages.styles,
        has_push: push.is_some(),
    };
    let body = if page.is_unknown() {
        Body::NotFound(page.html(&cache, layout, config)?)
    } else if page.is_cacheable() {
        let source_versions =
            sources.iter().map(|source| (source.status, source.last_heard.map(|at| at.floor(MINUTE))));
        let version = (data.version, now.floor(MINUTE), source_versions.collect());
        let key = (language.code().to_owned(), selector.clone());
        let rendered = pages.rendered.get(key, version, page.render(&cache, layout, config)).await?;
        Body::Found(page.with_staleness(rendered, now))
    } else {
        Body::Found(page.with_staleness(page.render(&cache, layout, config).await?, now))
    };
    Ok(MapPage {
        body,
        security: Header::new("Content-Security-Policy", policy(config)),
        referrer: Header::new("Referrer-Policy", referrer(config)),
        language: Header::new("Content-Language", language.code().to_owned()),
        vary: Header::new("Vary", "Accept-Encoding, Accept-Language"),
    })
}

#[get("/map/<file>", rank = 2)]
pub(super) async fn find_file(
    _caller: Caller,
    file: &str,
    files: &State<Assets>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    if let Some(icon) = push::find_icon(file, config) {
        return Ok(icon);
    }
    files.find("/map/", file).await
}

#[get("/map/hazards", rank = 1)]
pub(super) async fn list_hazards(
    _caller: Caller,
    language: Language,
    pages: &State<Pages>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let render = async {
        let texts = language.translations();
        let mut hazards = texts.hazards(config.country.data().hazards());
        hazards["words"] = texts.group("words").clone();
        let body = serde_json::to_vec(&hazards).map_err(Problem::internal)?;
        Ok::<_, Problem>(ApiResponse::shared(&precompress(JSON, body).await?))
    };
    pages.hazards.get(language.code().to_owned(), (), render).await
}

/// Responds with the service worker for reading offline. It is at the root, because the path of a worker limits its scope.
#[get("/sw.js")]
pub(super) async fn find_worker(_caller: Caller, files: &State<Assets>) -> Result<Worker, Problem> {
    let script = files.find("/map/", "sw.js").await?;
    Ok(Worker { script, security: Header::new("Content-Security-Policy", WORKER_POLICY) })
}

#[get("/map/names", rank = 1)]
pub(super) async fn list_names(
    _caller: Caller,
    cache: ResponseCache,
    names: &State<NameIndex>,
    basemap: &State<Basemap>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let areas = time::timeout(config.limits.timeout, cache.follower.areas()).await;
    let areas = areas.map_err(Problem::slow_store)??;
    Ok(ApiResponse::shared(&names.index(areas, basemap, config.country.data()).await?))
}

/// Returns the content security policy: only scripts of this service run, and images come only from configured hosts.
fn policy(config: &Config) -> String {
    let tiles = config.map.tiles.as_ref().map(Tiles::origin).unwrap_or_default();
    let photos = config.photos_url();
    let photos = url::Url::parse(&photos).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    let embed = if config.map.embed.is_empty() { "'none'".to_owned() } else { config.map.embed.join(" ") };
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
         img-src 'self' data: {photos} {tiles}; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors {embed}"
    )
}

/// Returns the referrer policy. With tiles, other hosts get the origin of this site, because tile hosts require it.
fn referrer(config: &Config) -> &'static str {
    if config.map.tiles.is_some() { "strict-origin-when-cross-origin" } else { "no-referrer" }
}
