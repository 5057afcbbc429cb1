//! How many areas are flooded, how fresh the data is, what the service is, and under which terms its data may be used.

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
use crate::config::Config;
use crate::data::country::Translations;
use crate::formats::FormatRegistry;
use crate::guards::{Caller, Language, WantsPage};
use crate::http::error::Problem;
use crate::model::LayerKind;
use crate::pages::{doubt, over};
use crate::rendering::{ApiResponse, HTML, JSON, ResponseCache, envelope};
use crate::schema::resources::describe;

use crate::data::statements::{FloodData, Sentence, Situation, newest};
use crate::pages::layout::{Layout, PageContext, PageTemplate};
use crate::runtime::throttle::recent;
use crate::sources::watch;
use crate::stores::{Resource, Revision, Store};

const PAGE: PageTemplate = PageTemplate::new("front.html", include_str!("page.html"));

/// How long a result is reused: any number of visits in this time costs one look at the store.
const MAX_AGE: Duration = Duration::from_secs(5);

/// The revision of the reports before a look, and how fresh the data was.
type FreshnessRead = (Option<Revision>, Freshness);

/// The last look at the data.
#[derive(Debug, Default)]
pub(crate) struct Front(Mutex<Option<(Instant, FreshnessRead)>>);

impl Front {
    /// Returns how fresh the data is; all null if that cannot be found out within `limit`. It has no report that was hidden or erased
    /// before: after a change of the reports it is read again.
    async fn fresh(&self, store: &dyn Store, limit: Duration) -> Freshness {
        let looking = async {
            let revision = store.revision(Resource::Reports).await.ok();
            let mut found = self.0.lock().await;
            let kept = found.take().filter(|(_, (of, _))| *of == revision);
            let look = async { (revision, Freshness::read(store).await) };
            let (at, (of, fresh)) = recent(kept, MAX_AGE, look).await;
            *found = Some((at, (of, fresh.clone())));
            fresh
        };
        timeout(limit, looking).await.unwrap_or_default()
    }
}

/// The response, which depends on the language that the client prefers.
#[derive(Responder)]
pub(super) struct FrontResponse {
    answer: ApiResponse,
    vary: Header<'static>,
}

/// `GET /`: responds with a page for people in their language, or with the same as JSON for programs.
#[get("/")]
#[allow(clippy::too_many_arguments, reason = "each is a guard")]
pub(super) async fn show(
    _caller: Caller,
    wants: WantsPage,
    language: Language,
    front: &State<Front>,
    store: &State<Arc<dyn Store>>,
    formats: &State<FormatRegistry>,
    config: &State<Config>,
    shell: &State<Layout>,
    answers: ResponseCache,
) -> Result<FrontResponse, Problem> {
    let fresh = if answers.follower.stale_since().is_some() {
        // The store is known to be away.
        Freshness::default()
    } else {
        front.fresh(&***store, config.limits.timeout).await
    };
    let about = about(config, formats, &fresh);
    let answer = if wants.0 {
        let page = page(&language, about, &fresh, config, shell, &answers)?;
        if fresh.reports.is_empty() {
            ApiResponse::public(HTML, page.into_bytes())
        } else {
            // No cache keeps reports, which can be hidden.
            ApiResponse::private_page(page).compressed().await?
        }
    } else {
        ApiResponse::public(JSON, envelope::result(&about)?)
    };
    Ok(FrontResponse { answer, vary: Header::new("Vary", "Accept, Accept-Encoding, Accept-Language") })
}

/// Writes the page in a language, with times in the configured time zone.
fn page(
    language: &Language,
    about: Value,
    fresh: &Freshness,
    config: &Config,
    shell: &Layout,
    answers: &ResponseCache,
) -> Result<String, Problem> {
    let texts = language.translations();
    let moment = |at| texts.moment(at, config.time_zone);
    let state = answers.follower.states().borrow().clone();
    let changed = fresh.flood_state.max(over(state.as_deref()).map(|(_, at)| at).max());
    let sources = answers.sources.reports();
    let (watched, silent) = watch(&sources);
    let situation = Situation {
        now: answers.now(),
        floods: if fresh.flooded.is_some() { FloodData::Now } else { FloodData::Unread },
        watch: watched,
        has_areas: state.is_none_or(|state| !state.areas().is_empty()),
        is_part: false,
        flooded: fresh.flooded.iter().flat_map(|counts| counts.values()).sum::<u64>() as usize,
        newest: changed,
    };
    let says = situation.page();
    let [reports_read, gauges_read] = fresh.are_read;
    let listed = [
        ("flood_state", fresh.flooded.is_some(), changed, Sentence::Never),
        ("report", reports_read, fresh.report, Sentence::NoneLately),
        ("gauge_reading", gauges_read, fresh.gauge_reading, Sentence::NoneLately),
    ];
    let listed = listed.map(|(name, is_read, at, none)| {
        let (key, at) = (newest(is_read, at, none), at.filter(|_| is_read));
        let local = at.map_or_else(|| key.text(texts, None).to_owned(), moment);
        json!({ "name": name, "key": key, "at": at, "local": local })
    });
    let flooded =
        fresh.flooded.as_ref().map(|counts| json!({ "counts": counts, "all": counts.values().sum::<u64>() }));
    let values = context! {
        t => Serde(texts.group("front")),
        depths => Serde(texts.group("depths")),
        about => Serde(about),
        alerts => format!("{}/alerts?format=html&lang={}", config.base_url.path().trim_end_matches('/'), language.code()),
        flooded => Serde(flooded),
        state => says.first().map(|key| Serde(json!({ "key": key, "text": key.text(texts, None) }))),
        watch => doubt(&says, silent, texts, moment).map(|(key, text)| Serde(json!({ "key": key, "text": text }))),
        newest => Serde(listed),
        reports => Serde(reports(texts, fresh, config)),
    };
    let here = PageContext { page: "front", path: "/", keep: &[] };
    shell.render(PAGE, texts, here, values).map_err(Problem::internal)
}

/// Returns the newest reports in words.
fn reports(texts: &Translations, fresh: &Freshness, config: &Config) -> Vec<Value> {
    let hazards = config.country.data().hazards();
    let reports = fresh.reports.iter().map(|report| {
        let content = &report.content;
        let data = content.report_data.as_ref().and_then(|data| serde_json::from_str(data.get()).ok());
        let data: Value = data.unwrap_or_default();
        json!({
            "name": texts.hazard(content.disaster_type, &data),
            "facts": texts.facts(hazards, content.disaster_type, &data),
            "icon": hazards.get(content.disaster_type).map(|hazard| &hazard.icon),
            "colour": hazards.get(content.disaster_type).map(|hazard| &hazard.colour),
            "text": content.text,
            "at": content.created_at,
            "local": texts.moment(content.created_at, config.time_zone),
        })
    });
    reports.collect()
}

fn about(config: &Config, formats: &FormatRegistry, fresh: &Freshness) -> Value {
    let (base, origin) = (config.base_url.as_str(), config.base_url.origin());
    let links = to_try(base, formats).into_iter();
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

/// Returns addresses below `base` that show the data, by resource: for floods, one per format.
fn to_try(base: &str, formats: &FormatRegistry) -> Vec<(&'static str, Vec<String>)> {
    let one = |path: &str| vec![format!("{base}/{path}")];
    let resources = LayerKind::ALL.into_iter().map(|kind| {
        let path = describe(kind).path;
        let addresses = if kind == LayerKind::Floods {
            let formats = formats.for_kind(kind);
            formats
                .map(|format| format!("{base}/{path}?minimum_state=1&geoformat={}", format.name()))
                .collect()
        } else {
            one(path)
        };
        (kind.name(), addresses)
    });
    let others = [("states", "floods/states"), ("statistics", "stats/floodedRWsSummary")];
    resources.chain(others.map(|(name, path)| (name, one(path)))).collect()
}

/// Returns a route that redirects from a path at which the interface is mounted to `/`, for paths that have no resource
/// themselves.
#[must_use]
pub(crate) fn lead_to_front(path: &str) -> Route {
    Route::new(Method::Get, path, Lead)
}

#[derive(Clone)]
struct Lead;

#[rocket::async_trait]
impl Handler for Lead {
    async fn handle<'r>(&self, _request: &'r Request<'_>, _data: Data<'r>) -> Outcome<'r> {
        // The address has no host, because the service may be reached by any name.
        let response =
            Response::build().status(Status::TemporaryRedirect).raw_header("Location", "/").finalize();
        Outcome::Success(response)
    }
}
