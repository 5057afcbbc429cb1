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
use crate::model::{Clock, DataState, SourceStatus};
use crate::photos::CardImages;
use crate::rendering::ApiResponse;
use crate::runtime::throttle::recent;
use crate::sources::Sources;
use crate::stores::{Check, Store};
use crate::webhooks::WebhookStatuses;

/// How long the results of the checks are reused: any number of probes in this time costs one check.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The same for the check of the image storage, which can cost money.
const STORAGE_MAX_AGE: Duration = Duration::from_secs(5);

/// The latest results of the checks.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Mutex<CheckResults>);

#[derive(Debug, Default)]
struct CheckResults {
    store: Option<(Instant, Vec<Check>)>,
    storage: Option<(Instant, Check)>,
}

/// The result of a check as the response shows it.
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
    async fn shown(&self, store: &dyn Store, images: &CardImages, follower: &Follower) -> Vec<CheckResult> {
        let mut guard = self.0.lock().await;
        let found = &mut *guard;
        let (store, storage) = join!(
            recent(found.store.take(), MAX_AGE, store.readiness()),
            recent(found.storage.take(), STORAGE_MAX_AGE, images.readiness()),
        );
        let failure = follower
            .clock_skew()
            .map(|_| "the newest change of a flood state is ahead of the clock of this server");
        let changes = Check { name: "changes", required: false, failure, took: Duration::ZERO };
        let shown = store.1.iter().chain([&storage.1, &changes]).map(CheckResult::from).collect();
        (found.store, found.storage) = (Some(store), Some(storage));
        shown
    }
}

/// `GET /health/live`: responds with 200 while the service runs.
#[get("/health/live")]
pub(super) fn tell_live() -> Result<ApiResponse, Problem> {
    ApiResponse::private_result(&json!({ "status": "live" }))
}

/// `GET /health/ready`: responds with 200 if everything that reads need works, else with 503. If only something else fails, the
/// status is still 200, but the text is `degraded`.
#[get("/health/ready")]
pub(super) async fn tell_ready(
    readiness: &State<Readiness>,
    draining: &State<Draining>,
    store: &State<Arc<dyn Store>>,
    images: &State<Arc<CardImages>>,
    follower: &State<Follower>,
) -> Result<(Status, ApiResponse), Problem> {
    let checks = readiness.shown(&***store, images, follower).await;
    let (status, text) = if draining.has_started() {
        (Status::ServiceUnavailable, "draining")
    } else if checks.iter().any(|check| check.required && !check.ok) {
        (Status::ServiceUnavailable, "unready")
    } else if checks.iter().any(|check| !check.ok) {
        (Status::Ok, "degraded")
    } else {
        (Status::Ok, "ready")
    };
    let answer = ApiResponse::bare(&json!({
        "statusCode": status.code,
        "result": { "status": text, "checks": checks },
    }))?;
    Ok((status, answer))
}

/// `GET /health/data`: responds with 503 while a source of the data is silent or the data may be out of date, else with 200. It
/// also names webhooks that are more than an hour behind, or switched off, and says how many seconds the newest change of a
/// flood state is ahead of the clock, if it is by more than 10.
#[get("/health/data")]
pub(super) fn tell_data(
    sources: &State<Sources>,
    follower: &State<Follower>,
    webhooks: &State<WebhookStatuses>,
    clock: &State<Arc<dyn Clock>>,
) -> Result<(Status, ApiResponse), Problem> {
    let sources = sources.reports();
    let webhooks = webhooks.long_behind(clock.now());
    let mut worst = DataState::default();
    for source in &sources {
        worst.add(source.last_heard, source.status);
    }
    let stale_since = follower.stale_since();
    let is_silent = worst.status == Some(SourceStatus::Silent);
    let is_missing = is_silent || stale_since.is_some();
    let status = if is_missing { Status::ServiceUnavailable } else { Status::Ok };
    let answer = ApiResponse::bare(&json!({
        "statusCode": status.code,
        "result": {
            "status": worst.name(),
            "sources": sources,
            "stale_since": stale_since,
            "calls": webhooks,
            "seconds_ahead": follower.clock_skew().map(|by| by.as_secs()),
        },
    }))?;
    Ok((status, answer))
}
