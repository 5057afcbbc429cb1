//! Health checks for supervisors and load balancers: whether the process runs, and whether it can serve requests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rocket::http::Status;
use rocket::tokio::join;
use rocket::tokio::sync::Mutex;
use rocket::{State, get};
use serde::Serialize;
use serde_json::json;

use crate::changes::Follower;
use crate::http::error::Problem;
use crate::http::fairings::Draining;
use crate::model::{Clock, CoveredData, DataState, SourceStatus};
use crate::photos::CardImages;
use crate::rendering::ApiResponse;
use crate::runtime::throttle::recent;
use crate::sources::Sources;
use crate::stores::{Check, GaugeStatuses, GaugeSummary, Store};
use crate::webhooks::WebhookStatuses;

/// How long results are reused, so that any number of probes costs one check.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The same for the image storage. Longer, because its check can cost money.
const STORAGE_MAX_AGE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Readiness(Mutex<CheckResults>);

#[derive(Debug, Default)]
struct CheckResults {
    store: Option<(Instant, Vec<Check>)>,
    storage: Option<(Instant, Check)>,
}

#[derive(Serialize)]
struct CheckResult {
    name: &'static str,
    required: bool,
    ok: bool,
    ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl From<&Check> for CheckResult {
    fn from(check: &Check) -> Self {
        let Check { name, required, failure, took } = *check;
        Self { name, required, ok: failure.is_none(), ms: took.as_millis(), reason: failure }
    }
}

impl Readiness {
    /// Repeats the checks of the store and the storage only when their results are too old.
    async fn check(&self, store: &dyn Store, images: &CardImages, follower: &Follower) -> Vec<CheckResult> {
        let mut guard = self.0.lock().await;
        let results = &mut *guard;
        let (store, storage) = join!(
            recent(results.store.take(), MAX_AGE, store.readiness()),
            recent(results.storage.take(), STORAGE_MAX_AGE, images.readiness()),
        );
        let failure = follower
            .clock_skew()
            .map(|_| "the newest change of a flood state is ahead of the clock of this server");
        let changes = Check { name: "changes", required: false, failure, took: Duration::ZERO };
        let checks = store.1.iter().chain([&storage.1, &changes]).map(CheckResult::from).collect();
        (results.store, results.storage) = (Some(store), Some(storage));
        checks
    }
}

#[get("/health/live")]
pub(super) fn liveness() -> Result<ApiResponse, Problem> {
    ApiResponse::private_result(&json!({ "status": "live" }))
}

/// Responds with 200 if all required checks pass, else with 503. If only optional ones fail, sends 200 and `degraded`.
#[get("/health/ready")]
pub(super) async fn readiness(
    readiness: &State<Readiness>,
    draining: &State<Draining>,
    store: &State<Arc<dyn Store>>,
    images: &State<Arc<CardImages>>,
    follower: &State<Follower>,
) -> Result<(Status, ApiResponse), Problem> {
    let checks = readiness.check(&***store, images, follower).await;
    let (status, text) = if draining.has_started() {
        (Status::ServiceUnavailable, "draining")
    } else if checks.iter().any(|check| check.required && !check.ok) {
        (Status::ServiceUnavailable, "unready")
    } else if checks.iter().any(|check| !check.ok) {
        (Status::Ok, "degraded")
    } else {
        (Status::Ok, "ready")
    };
    let response = ApiResponse::bare(&json!({
        "statusCode": status.code,
        "result": { "status": text, "checks": checks },
    }))?;
    Ok((status, response))
}

/// Responds with 503 while a source is silent or the data may be stale, else with 200. Also lists webhooks that are disabled or
/// over an hour behind, and silent gauges; with 503 if no gauge is heard and a source covers them. If the newest flood change is over
/// 10 s ahead of the clock, the response contains the difference.
#[get("/health/data")]
pub(super) async fn data_health(
    sources: &State<Sources>,
    follower: &State<Follower>,
    webhooks: &State<WebhookStatuses>,
    gauges: &State<Arc<GaugeStatuses>>,
    clock: &State<Arc<dyn Clock>>,
) -> Result<(Status, ApiResponse), Problem> {
    let sources = sources.reports();
    let webhooks = webhooks.long_behind(clock.now());
    let mut worst = DataState::default();
    for source in &sources {
        worst.add(source.last_heard, source.status);
    }
    let gauges = gauges.summary().await;
    let gauges_covered = sources.iter().any(|source| source.covers.contains(&CoveredData::Gauges));
    let no_gauge_is_heard = gauges_covered && gauges.as_ref().is_some_and(GaugeSummary::is_silent);
    let stale_since = follower.stale_since();
    let is_silent = worst.status == Some(SourceStatus::Silent);
    let is_missing = is_silent || no_gauge_is_heard || stale_since.is_some();
    let status = if is_missing { Status::ServiceUnavailable } else { Status::Ok };
    let response = ApiResponse::bare(&json!({
        "statusCode": status.code,
        "result": {
            "status": worst.name(),
            "sources": sources,
            "stale_since": stale_since,
            "gauges": gauges,
            "calls": webhooks,
            "seconds_ahead": follower.clock_skew().map(|by| by.as_secs()),
        },
    }))?;
    Ok((status, response))
}
