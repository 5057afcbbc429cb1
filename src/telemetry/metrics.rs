mod database;
mod families;
mod process;
mod prometheus_text;
mod rejection;
mod renderings;
mod sources;
mod streams;
mod webhooks;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prometheus_client::encoding::text;
use serde::{Deserialize, Serialize};

use self::families::{Families, Labels, Requests, Responses, Route};
pub(crate) use self::prometheus_text::prometheus_text;
pub(crate) use self::rejection::Rejection;
pub(crate) use self::webhooks::DeliveryOutcome;
use crate::auth::Secret;

/// The section `metrics` of the configuration.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MetricsSettings {
    /// Whether `GET /metrics` exists. **Default: `false`**
    pub enabled: bool,
    /// The token for `GET /metrics`, sent as `Authorization: Bearer <token>`. **Default: none, anyone may read the metrics**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
}

/// The metrics of the service, for Prometheus. Clones share them.
///
/// Labels have only a few values, whatever clients request: methods that Rocket knows, route templates, names of store methods.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Inner>);

#[derive(Default)]
struct Inner {
    families: Families,
    /// Called before the metrics are written. They set gauges whose values are stored elsewhere.
    sources: Mutex<Vec<Box<Source>>>,
}

type Source = dyn Fn(&Metrics) + Send + Sync;

/// A step in the processing of an uploaded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UploadStep {
    /// The service or the storage received it.
    Received,
    /// A photo was made of it and published.
    Published,
    /// It will never be published.
    Refused,
    /// It will be tried again later.
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

    fn labels(self) -> Labels<1> {
        [("step", self.name())]
    }
}

/// How a request got its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheUse {
    /// The response was cached.
    Hit,
    /// It was already being rendered for another request.
    Wait,
    /// A rendering was started for it.
    Miss,
}

/// The origin of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportOrigin {
    /// The card of a resident, by the interface.
    Card,
    /// The page for residents.
    Page,
    /// The feed of a partner.
    Partner,
}

impl ReportOrigin {
    fn labels(self) -> Labels<1> {
        let origin = match self {
            Self::Card => "card",
            Self::Page => "page",
            Self::Partner => "partner",
        };
        [("origin", origin)]
    }
}

/// A store operation in progress. It is measured when this is dropped, so that a cancelled operation counts too.
#[derive(Debug)]
pub struct StoreOperation<'m> {
    metrics: &'m Metrics,
    name: &'static str,
    begun: Instant,
}

impl Drop for StoreOperation<'_> {
    fn drop(&mut self) {
        let operations = &self.metrics.all().store_operations;
        operations.get_or_create(&[("operation", self.name)]).observe(self.begun.elapsed().as_secs_f64());
    }
}

/// Something that a gauge counts as long as this value lives: a request in progress, or a job or rendering that waits.
#[derive(Debug)]
pub(crate) struct InFlight(prometheus_client::metrics::gauge::Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// The label for a request whose method is unknown.
    pub(crate) const OTHER_METHOD: &'static str = "other";

    /// The label for a request that matches no route.
    pub(crate) const NO_ROUTE: &'static str = "none";

    /// Counts a request in progress.
    #[must_use]
    pub(crate) fn begin(&self) -> InFlight {
        self.all().in_flight.inc();
        InFlight(self.all().in_flight.clone())
    }

    /// Counts a response of `bytes` to a request with a `method` and a `route` template.
    pub(crate) fn answered(
        &self,
        method: &'static str,
        route: &str,
        status: u16,
        took: Duration,
        bytes: u64,
    ) {
        let Families { answers, durations, bytes: sizes, .. } = self.all();
        let route = || route.to_owned();
        answers.get_or_create(&Responses { method, route: route(), status: status.into() }).inc();
        durations.get_or_create(&Requests { method, route: route() }).observe(took.as_secs_f64());
        sizes.get_or_create(&Route { route: route() }).inc_by(bytes);
    }

    /// Counts a flood state that was set or cleared.
    pub(crate) fn flood_changed(&self) {
        self.all().flood_changes.inc();
    }

    /// Counts a report that was accepted.
    pub(crate) fn report_taken(&self, origin: ReportOrigin) {
        self.all().reports.get_or_create(&origin.labels()).inc();
    }

    /// Counts an unknown card that was named without a credential.
    pub(crate) fn unknown_card(&self) {
        self.all().unknown_cards.inc();
    }

    /// Counts readings that were stored.
    pub(crate) fn readings_stored(&self, count: usize) {
        self.all().readings.inc_by(count as u64);
    }

    /// Counts a step of an upload.
    pub(crate) fn upload(&self, step: UploadStep) {
        self.all().uploads.get_or_create(&step.labels()).inc();
    }

    /// Sets how many uploads have not been processed yet.
    pub(crate) fn uploads_waiting(&self, count: u64) {
        self.all().uploads_waiting.set(gauge(count));
    }

    /// Sets how many areas have each flood state, from 1 to 4.
    pub(crate) fn flooded_areas(&self, areas: [u64; 4]) {
        for (state, areas) in ["1", "2", "3", "4"].into_iter().zip(areas) {
            self.all().flooded_areas.get_or_create(&[("state", state)]).set(gauge(areas));
        }
    }

    /// Sets how many alerts of a type are in force.
    pub(crate) fn alerts(&self, message_type: &'static str, alerts: u64) {
        self.all().alerts.get_or_create(&[("type", message_type)]).set(gauge(alerts));
    }

    /// Sets how long ago the state of an alert in force was last confirmed: the longest time of all.
    pub(crate) fn alert_unconfirmed(&self, age: Duration) {
        self.all().alert_unconfirmed.get_or_create(&[]).set(age.as_secs_f64());
    }

    /// Sets the age of the newest `data` of a kind.
    pub(crate) fn data_age(&self, data: &'static str, age: Duration) {
        self.all().data_ages.get_or_create(&[("data", data)]).set(age.as_secs_f64());
    }

    /// Measures a store operation, from now until the returned value is dropped.
    #[must_use]
    pub(crate) fn store_operation(&self, name: &'static str) -> StoreOperation<'_> {
        StoreOperation { metrics: self, name, begun: Instant::now() }
    }

    /// Counts a request by how it got its response.
    pub(crate) fn cache_used(&self, how: CacheUse) {
        match how {
            CacheUse::Hit => &self.all().cache_hits,
            CacheUse::Wait => &self.all().cache_waits,
            CacheUse::Miss => &self.all().cache_misses,
        }
        .inc();
    }

    /// Counts a request that was rejected.
    pub(crate) fn request_rejected(&self, why: Rejection) {
        self.all().requests_rejected.get_or_create(&why.labels()).inc();
    }

    /// Counts a response that was returned from the cache while the store was unavailable.
    pub(crate) fn responded_stale(&self) {
        self.all().stale_responses.inc();
    }

    /// Sets how many bytes the cached responses take.
    pub(crate) fn cache_size(&self, bytes: usize) {
        self.all().cache_bytes.set(gauge(bytes));
    }

    /// Calls `source` each time before the metrics are written, so that it can set gauges.
    ///
    /// It must be quick and must not block. It should hold weak references, because it lives as long as these metrics.
    pub(crate) fn add_source(&self, source: impl Fn(&Self) + Send + Sync + 'static) {
        self.sources().push(Box::new(source));
    }

    /// Returns all metrics in the `OpenMetrics` text format.
    pub(crate) fn text(&self) -> Result<String, fmt::Error> {
        self.all().process.read();
        for source in &*self.sources() {
            source(self);
        }
        let mut written = String::new();
        text::encode(&mut written, &self.all().registry)?;
        Ok(written)
    }

    fn all(&self) -> &Families {
        &self.0.families
    }

    fn sources(&self) -> MutexGuard<'_, Vec<Box<Source>>> {
        self.0.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

fn gauge(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}
