//! The front page: how many areas are flooded, how fresh the data is, what the service is, and the terms for its data.

mod freshness;

use std::sync::Arc;
use std::time::{Duration, Instant};

use minijinja::context;
use minijinja::value::Serde;
use rocket::http::{Header, Method, Status};
use rocket::request::Request;
use rocket::response::Response;
use rocket::route::{Handler, Outcome};
use rocket::tokio::sync::Mutex;
use rocket::tokio::time::timeout;
use rocket::{Data, Responder, Route, State, get};
use serde_json::{Map, Value, json};

use self::freshness::Freshness;
use crate::archive::Archive;
use crate::changes;
use crate::config::Config;
use crate::data::country::Translations;
use crate::formats::FormatRegistry;
use crate::guards::{Caller, Language, WantsPage};
use crate::http::error::Problem;
use crate::model::{Area, FloodStateRecord, LayerKind, Places};
use crate::pages::docs::ogc_address;
use crate::pages::drawing::Overview;
use crate::pages::larger_areas::larger_areas;
use crate::pages::{ended_floods, uncertainty};
use crate::rendering::{ApiResponse, HTML, JSON, ResponseCache, envelope};
use crate::schema::resources::describe;

use crate::data::statements::{FloodData, Sentence, Situation, newest};
use crate::pages::layout::{Layout, PageContext, PageTemplate};
use crate::runtime::off_thread;
use crate::runtime::throttle::recent;
use crate::sources::watch;
use crate::stores::{Resource, Revision, Store};

const PAGE: PageTemplate = PageTemplate::new("front.html", include_str!("page.html"));

/// The minimum time between two reads of the store while reports do not change, for any number of visitors.
const MAX_AGE: Duration = Duration::from_secs(5);

/// The first map of a set of areas merges them, which can take longer: then the page has no map yet.
const DRAWN_WITHIN: Duration = Duration::from_millis(500);

const MAX_LARGER_AREAS: usize = 5;

/// The revision of the reports before the read, and the result.
type CachedFreshness = (Option<Revision>, Freshness);

/// A map of the floods, and from what it was drawn.
type CachedOverview = (Arc<Places>, Arc<Vec<FloodStateRecord>>, Option<Arc<Overview>>);

#[derive(Debug, Default)]
pub(crate) struct FreshnessCache {
    freshness: Mutex<Option<(Instant, CachedFreshness)>>,
    overview: Arc<Mutex<Option<CachedOverview>>>,
}

impl FreshnessCache {
    /// Returns how fresh the data is; all fields are null if reading takes longer than `limit`. Reads again after each change of
    /// reports, so that hidden ones disappear.
    async fn freshness(&self, store: &dyn Store, archive: Option<&Archive>, limit: Duration) -> Freshness {
        let read = async {
            let revision = store.revision(Resource::Reports).await.ok();
            let mut cached = self.freshness.lock().await;
            let reusable = cached.take().filter(|(_, (cached_revision, _))| *cached_revision == revision);
            let reread = async { (revision, Freshness::read(store, archive).await) };
            let (at, (cached_revision, fresh)) = recent(reusable, MAX_AGE, reread).await;
            *cached = Some((at, (cached_revision, fresh.clone())));
            fresh
        };
        timeout(limit, read).await.unwrap_or_default()
    }

    /// Returns a map of the floods; `None` if they or the areas are unknown, or it takes longer than [`DRAWN_WITHIN`].
    async fn overview(&self, store: &dyn Store, fresh: &Freshness) -> Option<Arc<Overview>> {
        fresh.flooded.as_ref()?;
        let states = &fresh.states;
        let draw = async {
            let places = store.places().await.ok()?.value;
            let mut cached = Arc::clone(&self.overview).lock_owned().await;
            if let Some((of_places, of_states, overview)) = &*cached
                && Arc::ptr_eq(of_places, &places)
                && of_states == states
            {
                return overview.clone();
            }
            let states = Arc::clone(states);
            // A map that takes longer is drawn all the same, for the next visitor.
            let drawing = rocket::tokio::spawn(async move {
                let of = (Arc::clone(&places), Arc::clone(&states));
                let drawn = off_thread(move |_| Overview::draw(&of.0, &of.1)).await.ok()?.map(Arc::new);
                *cached = Some((places, states, drawn.clone()));
                drawn
            });
            drawing.await.ok()?
        };
        timeout(DRAWN_WITHIN, draw).await.ok()?
    }
}

#[derive(Responder)]
pub(super) struct FrontResponse {
    response: ApiResponse,
    vary: Header<'static>,
}

#[get("/")]
#[allow(clippy::too_many_arguments, reason = "each is a guard")]
pub(super) async fn show(
    _caller: Caller,
    wants: WantsPage,
    language: Language,
    front: &State<FreshnessCache>,
    store: &State<Arc<dyn Store>>,
    formats: &State<FormatRegistry>,
    config: &State<Config>,
    layout: &State<Layout>,
    archive: &State<Option<Archive>>,
    cache: ResponseCache,
) -> Result<FrontResponse, Problem> {
    let fresh = if cache.follower.stale_since().is_some() {
        Freshness::default()
    } else {
        front.freshness(&***store, archive.inner().as_ref(), config.limits.timeout).await
    };
    let service = service_json(config, formats, &fresh);
    let response = if wants.0 {
        let overview = front.overview(&***store, &fresh).await;
        let page = page(&language, service, (&fresh, overview), config, layout, &cache)?;
        if fresh.reports.is_empty() {
            ApiResponse::public(HTML, page.into_bytes())
        } else {
            // Not cacheable, because reports can be hidden.
            ApiResponse::private_page(page).compressed().await?
        }
    } else {
        ApiResponse::public(JSON, envelope::result(&service)?)
    };
    Ok(FrontResponse { response, vary: Header::new("Vary", "Accept, Accept-Encoding, Accept-Language") })
}

fn page(
    language: &Language,
    about: Value,
    (fresh, overview): (&Freshness, Option<Arc<Overview>>),
    config: &Config,
    layout: &Layout,
    cache: &ResponseCache,
) -> Result<String, Problem> {
    let texts = language.translations();
    let moment = |at| texts.moment(at, config.time_zone);
    let state = cache.follower.states().borrow().clone();
    let changed = fresh.flood_state.max(ended_floods(state.as_deref()).map(|(_, at)| at).max());
    let sources = cache.sources.reports();
    let (watched, silent) = watch(&sources);
    let situation = Situation {
        now: cache.now(),
        floods: if fresh.flooded.is_some() { FloodData::Now } else { FloodData::Unread },
        watch: watched,
        has_areas: state.as_ref().is_none_or(|state| !state.areas().is_empty()),
        is_part: false,
        flooded: fresh.flooded.iter().flat_map(|counts| counts.values()).sum::<u64>() as usize,
        newest: changed,
    };
    let sentences = situation.page();
    let [reports_read, gauges_read] = fresh.are_read;
    let newest_rows = [
        ("flood_state", fresh.flooded.is_some(), changed, Sentence::Never),
        ("report", reports_read, fresh.report, Sentence::NoneLately),
        ("gauge_reading", gauges_read, fresh.gauge_reading, Sentence::NoneLately),
    ];
    let newest_rows = newest_rows.map(|(name, is_read, at, none)| {
        let (key, at) = (newest(is_read, at, none), at.filter(|_| is_read));
        let local = at.map_or_else(|| key.text(texts, None).to_owned(), moment);
        json!({ "name": name, "key": key, "at": at, "local": local })
    });
    let flooded =
        fresh.flooded.as_ref().map(|counts| json!({ "counts": counts, "all": counts.values().sum::<u64>() }));
    let states = fresh.states.iter().map(|record| (record.area_id, record.state));
    let worst = state.iter().flat_map(|state| larger_areas(state.areas(), states.clone()));
    let worst = worst.filter(|larger| !larger.parent.is_empty()).take(MAX_LARGER_AREAS);
    let worst: Vec<_> = worst.map(|larger| larger.row(texts)).collect();
    let values = context! {
        t => Serde(texts.group("front")),
        worst => Serde(worst),
        depths => Serde(texts.group("depths")),
        about => Serde(about),
        alerts => format!("{}/alerts?format=html&lang={}", config.base_url.path().trim_end_matches('/'), language.code()),
        flooded => Serde(flooded),
        state => sentences.first().map(|key| Serde(json!({ "key": key, "text": key.text(texts, None) }))),
        watch => uncertainty(&sentences, silent, texts, moment).map(|(key, text)| Serde(json!({ "key": key, "text": text }))),
        newest => Serde(newest_rows),
        ogc => ogc_address(config),
        archive => fresh.has_archive,
        overview => overview.as_deref().map(Serde),
        is_silent => watched.is_silent(),
        reports => Serde(reports(texts, fresh, config, state.as_deref())),
    };
    let context = PageContext { page: "front", path: "/", keep: &[] };
    layout.render(PAGE, texts, context, values).map_err(Problem::internal)
}

fn reports(
    texts: &Translations,
    fresh: &Freshness,
    config: &Config,
    state: Option<&changes::State>,
) -> Vec<Value> {
    let hazards = config.country.data().hazards();
    let reports = fresh.reports.iter().map(|report| {
        let content = &report.content;
        let data = content.report_data.as_ref().and_then(|data| serde_json::from_str(data.get()).ok());
        let data: Value = data.unwrap_or_default();
        json!({
            "name": texts.report_type_name(content.disaster_type, &data),
            "facts": texts.facts(hazards, content.disaster_type, &data),
            "icon": hazards.get(content.disaster_type).map(|hazard| &hazard.icon),
            "colour": hazards.get(content.disaster_type).map(|hazard| &hazard.colour),
            "place": report.tags.local_area_id.and_then(|id| state?.areas().find(id)).map(Area::display_name),
            "text": content.text,
            "at": content.created_at,
            "local": texts.moment(content.created_at, config.time_zone),
        })
    });
    reports.collect()
}

fn service_json(config: &Config, formats: &FormatRegistry, fresh: &Freshness) -> Value {
    let (base, origin) = (config.base_url.as_str(), config.base_url.origin());
    let links = example_addresses(base, formats).into_iter();
    let links = links.map(|(name, addresses)| (name.to_owned(), addresses.into()));
    json!({
        "service": "Siaga",
        "version": env!("CARGO_PKG_VERSION"),
        "base_url": base,
        "map": format!("{origin}/map"),
        "documentation": format!("{origin}/docs"),
        "openapi": format!("{origin}/openapi.json"),
        "licence": config.licence,
        "flooded_areas": fresh.flooded,
        "latest": fresh,
        "to_try": links.collect::<Map<_, _>>(),
    })
}

/// Returns example addresses by resource: for floods, one per format.
fn example_addresses(base: &str, formats: &FormatRegistry) -> Vec<(&'static str, Vec<String>)> {
    let single = |path: &str| vec![format!("{base}/{path}")];
    let resources = LayerKind::ALL.into_iter().map(|kind| {
        let path = describe(kind).path;
        let addresses = if kind == LayerKind::Floods {
            let formats = formats.for_kind(kind);
            formats
                .map(|format| format!("{base}/{path}?minimum_state=1&geoformat={}", format.name()))
                .collect()
        } else {
            single(path)
        };
        (kind.name(), addresses)
    });
    let derived = [("states", "floods/states"), ("statistics", "stats/floodedRWsSummary")];
    resources.chain(derived.map(|(name, path)| (name, single(path)))).collect()
}

/// Returns a route that redirects to `/` from a mount point of the HTTP API that has no resource of its own.
#[must_use]
pub(crate) fn redirect_to_front(path: &str) -> Route {
    Route::new(Method::Get, path, FrontRedirect)
}

#[derive(Clone)]
struct FrontRedirect;

#[rocket::async_trait]
impl Handler for FrontRedirect {
    async fn handle<'r>(&self, _request: &'r Request<'_>, _data: Data<'r>) -> Outcome<'r> {
        // Without a host, because the service may have several names.
        let response =
            Response::build().status(Status::TemporaryRedirect).raw_header("Location", "/").finalize();
        Outcome::Success(response)
    }
}
