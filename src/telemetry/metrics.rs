use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use serde::{Deserialize, Serialize};

use crate::auth::Secret;

/// The section `metrics` of the configuration.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsSettings {
    /// Whether `GET /metrics` is there. **Default: `false`**
    pub enabled: bool,
    /// What it must be asked with, as `Authorization: Bearer <token>`. **Default: none, anybody may ask**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
}

/// What is counted and measured, for Prometheus. Clones share it.
///
/// The labels are of few values whatever is requested: methods Rocket knows, templates of routes, states.
#[derive(Clone)]
pub struct Metrics(Arc<Families>);

struct Families {
    registry: Registry,
    answers: Family<Answers, Counter>,
    durations: Family<Requests, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    bytes: Family<Route, Counter>,
    flood_changes: Counter,
    reports: Family<Origin, Counter>,
    readings: Counter,
    uploads: Family<Step, Counter>,
    uploads_waiting: Gauge,
    store_calls: Counter,
    store_time: Counter<f64, AtomicU64>,
    connections: Family<Connections, Gauge>,
    cache_hits: Counter,
    cache_waits: Counter,
    cache_misses: Counter,
    cache_bytes: Gauge,
}

/// Which answers: the method of their request, the template of its route, their status.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answers {
    method: &'static str,
    route: String,
    status: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Requests {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Origin {
    origin: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Step {
    step: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Connections {
    database: &'static str,
    state: &'static str,
}

/// What becomes of uploads of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadStep {
    /// One was received, by the service or by the storage.
    Received,
    /// A photo was made of one and is shown.
    Published,
    /// One will never be shown.
    Refused,
    /// One is tried again later.
    Postponed,
}

impl UploadStep {
    fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Published => "published",
            Self::Refused => "refused",
            Self::Postponed => "postponed",
        }
    }
}

/// How a question came to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// It was at hand.
    Hit,
    /// It was being made for another.
    Wait,
    /// It was made for it.
    Miss,
}

/// Where a report came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportOrigin {
    /// The card of a resident.
    Card,
    /// The feed of a partner.
    Partner,
}

/// A request that is being answered, for as long as it lives.
#[derive(Debug)]
pub struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The limits of the histogram of durations, in seconds: answers take from less than a millisecond to the time-out.
const BUCKETS: [f64; 12] = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

impl Default for Metrics {
    fn default() -> Self {
        let mut families = Families {
            registry: Registry::with_prefix("siaga"),
            answers: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            in_flight: Gauge::default(),
            bytes: Family::default(),
            flood_changes: Counter::default(),
            reports: Family::default(),
            readings: Counter::default(),
            uploads: Family::default(),
            uploads_waiting: Gauge::default(),
            store_calls: Counter::default(),
            store_time: Counter::default(),
            connections: Family::default(),
            cache_hits: Counter::default(),
            cache_waits: Counter::default(),
            cache_misses: Counter::default(),
            cache_bytes: Gauge::default(),
        };
        families.register();
        Self(Arc::new(families))
    }
}

impl Families {
    fn register(&mut self) {
        let version: Gauge = Gauge::default();
        version.set(1);
        let labelled = [("version".into(), env!("CARGO_PKG_VERSION").into())];
        let all = &mut self.registry;
        all.sub_registry_with_labels(labelled.into_iter()).register(
            "build",
            "The version that runs",
            version,
        );
        all.register("requests", "Requests answered", self.answers.clone());
        all.register_with_unit(
            "request_duration",
            "Time from a request's head to its answer's",
            Unit::Seconds,
            self.durations.clone(),
        );
        all.register("requests_in_flight", "Requests being answered", self.in_flight.clone());
        all.register_with_unit("response", "Size of answers", Unit::Bytes, self.bytes.clone());
        all.register("flood_changes", "Flood states set or cleared by requests", self.flood_changes.clone());
        all.register("reports", "Reports taken", self.reports.clone());
        all.register("gauge_readings", "Readings of gauges stored", self.readings.clone());
        all.register("uploads", "Uploads of images by what became of them", self.uploads.clone());
        let help = "Uploads received and not done with, of all servers on the store";
        all.register("uploads_waiting", help, self.uploads_waiting.clone());
        all.register("store_calls", "Calls of the store answered", self.store_calls.clone());
        let help = "Time these took";
        all.register_with_unit("store", help, Unit::Seconds, self.store_time.clone());
        let help = "Connections to the database";
        all.register("database_connections", help, self.connections.clone());
        all.register("cache_hits", "Answers that were at hand", self.cache_hits.clone());
        let help = "Answers that were waited for, being made for another request";
        all.register("cache_waits", help, self.cache_waits.clone());
        all.register("cache_misses", "Answers that were made", self.cache_misses.clone());
        all.register_with_unit("cache", "Size of the answers at hand", Unit::Bytes, self.cache_bytes.clone());
        // There from the beginning, so that the first of each is a growth.
        for step in [UploadStep::Received, UploadStep::Published, UploadStep::Refused, UploadStep::Postponed]
        {
            drop(self.uploads.get_or_create(&Step { step: step.name() }));
        }
        for origin in [ReportOrigin::Card, ReportOrigin::Partner] {
            drop(self.reports.get_or_create(&origin.into()));
        }
    }
}

impl From<ReportOrigin> for Origin {
    fn from(origin: ReportOrigin) -> Self {
        Self {
            origin: match origin {
                ReportOrigin::Card => "card",
                ReportOrigin::Partner => "partner",
            },
        }
    }
}

impl Metrics {
    /// The route of a request that none takes.
    pub const NO_ROUTE: &'static str = "none";

    /// Counts a request that is being answered.
    #[must_use]
    pub fn begin(&self) -> InFlight {
        self.0.in_flight.inc();
        InFlight(self.0.in_flight.clone())
    }

    /// Counts an answer, to a request of a `method` and the template of a `route`, that is of so many `bytes`.
    pub fn answered(&self, method: &'static str, route: &str, status: u16, took: Duration, bytes: u64) {
        let Families { answers, durations, bytes: sizes, .. } = &*self.0;
        let route = || route.to_owned();
        answers.get_or_create(&Answers { method, route: route(), status: status.into() }).inc();
        durations.get_or_create(&Requests { method, route: route() }).observe(took.as_secs_f64());
        sizes.get_or_create(&Route { route: route() }).inc_by(bytes);
    }

    /// Counts a flood state that was set or cleared.
    pub fn flood_changed(&self) {
        self.0.flood_changes.inc();
    }

    /// Counts a report that was taken.
    pub fn report_taken(&self, origin: ReportOrigin) {
        self.0.reports.get_or_create(&origin.into()).inc();
    }

    /// Counts readings that were stored.
    pub fn readings_stored(&self, count: usize) {
        self.0.readings.inc_by(count as u64);
    }

    /// Counts what became of an upload.
    pub fn upload(&self, step: UploadStep) {
        self.0.uploads.get_or_create(&Step { step: step.name() }).inc();
    }

    /// Notes how many uploads are not done with.
    pub fn uploads_waiting(&self, count: u64) {
        self.0.uploads_waiting.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Notes how many calls of the store were answered until now, and how long that took.
    pub fn store_time(&self, calls: u64, taken: Duration) {
        self.0.store_calls.inner().store(calls, Ordering::Relaxed);
        self.0.store_time.inner().store(taken.as_secs_f64().to_bits(), Ordering::Relaxed);
    }

    /// Counts a question that came to its answer.
    pub fn cache_used(&self, how: CacheUse) {
        match how {
            CacheUse::Hit => &self.0.cache_hits,
            CacheUse::Wait => &self.0.cache_waits,
            CacheUse::Miss => &self.0.cache_misses,
        }
        .inc();
    }

    /// Notes how many bytes the answers at hand take.
    pub fn cache_size(&self, bytes: usize) {
        self.0.cache_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Notes how many connections to a database are in use, and how many are not.
    pub fn connections(&self, database: &'static str, in_use: usize, idle: usize) {
        for (state, count) in [("in_use", in_use), ("idle", idle)] {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.0.connections.get_or_create(&Connections { database, state }).set(count);
        }
    }

    /// All of it, in the text format of `OpenMetrics`.
    ///
    /// # Errors
    ///
    /// When a value cannot be written.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut written = String::new();
        text::encode(&mut written, &self.0.registry)?;
        Ok(written)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}
