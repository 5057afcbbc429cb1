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

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MetricsSettings {
    /// Serves `GET /metrics`. **Default: `false`**
    pub enabled: bool,
    /// Token for `GET /metrics`, sent as `Authorization: Bearer <token>`. **Default: none, anyone may read the metrics**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
}

/// The metrics of the service, for Prometheus. Clones share them.
///
/// Labels have few values, which do not depend on clients: known methods, route templates, names of store methods.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Inner>);

#[derive(Default)]
struct Inner {
    families: Families,
    /// Callbacks that set gauges from values of other modules before the metrics are written.
    sources: Mutex<Vec<Box<Source>>>,
}

type Source = dyn Fn(&Metrics) + Send + Sync;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UploadStep {
    Received,
    Published,
    Refused,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheUse {
    Hit,
    Wait,
    Miss,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportOrigin {
    Card,
    Page,
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

/// A store operation in progress. Measured on drop, so that a cancelled operation counts too.
#[derive(Debug)]
pub struct StoreOperation<'m> {
    metrics: &'m Metrics,
    name: &'static str,
    started: Instant,
}

impl Drop for StoreOperation<'_> {
    fn drop(&mut self) {
        let operations = &self.metrics.all().store_operations;
        operations.get_or_create(&[("operation", self.name)]).observe(self.started.elapsed().as_secs_f64());
    }
}

/// Decrements a gauge on drop: for requests in progress, and jobs or renderings that wait.
#[derive(Debug)]
pub(crate) struct InFlight(prometheus_client::metrics::gauge::Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub(crate) const OTHER_METHOD: &'static str = "other";

    pub(crate) const NO_ROUTE: &'static str = "none";

    /// Counts a request as in progress until the returned value is dropped.
    #[must_use]
    pub(crate) fn request_started(&self) -> InFlight {
        self.all().in_flight.inc();
        InFlight(self.all().in_flight.clone())
    }

    pub(crate) fn count_response(
        &self,
        method: &'static str,
        route: &str,
        status: u16,
        took: Duration,
        bytes: u64,
    ) {
        let Families { responses, durations, bytes: sizes, .. } = self.all();
        let route_label = || route.to_owned();
        responses.get_or_create(&Responses { method, route: route_label(), status: status.into() }).inc();
        durations.get_or_create(&Requests { method, route: route_label() }).observe(took.as_secs_f64());
        sizes.get_or_create(&Route { route: route_label() }).inc_by(bytes);
    }

    pub(crate) fn flood_changed(&self) {
        self.all().flood_changes.inc();
    }

    pub(crate) fn count_report(&self, origin: ReportOrigin) {
        self.all().reports.get_or_create(&origin.labels()).inc();
    }

    pub(crate) fn unknown_card(&self) {
        self.all().unknown_cards.inc();
    }

    pub(crate) fn readings_stored(&self, count: usize) {
        self.all().readings.inc_by(count as u64);
    }

    pub(crate) fn upload(&self, step: UploadStep) {
        self.all().uploads.get_or_create(&step.labels()).inc();
    }

    pub(crate) fn uploads_waiting(&self, count: u64) {
        self.all().uploads_waiting.set(gauge(count));
    }

    pub(crate) fn push_subscriptions(&self, count: u64) {
        self.all().push_subscriptions.set(gauge(count));
    }

    /// Sets the number of areas with each flood state from 1 to 4.
    pub(crate) fn flooded_areas(&self, areas: [u64; 4]) {
        for (state, areas) in ["1", "2", "3", "4"].into_iter().zip(areas) {
            self.all().flooded_areas.get_or_create(&[("state", state)]).set(gauge(areas));
        }
    }

    pub(crate) fn alerts(&self, message_type: &'static str, alerts: u64) {
        self.all().alerts.get_or_create(&[("type", message_type)]).set(gauge(alerts));
    }

    pub(crate) fn gauges(&self, status: &'static str, gauges: u64) {
        self.all().gauges.get_or_create(&[("status", status)]).set(gauge(gauges));
    }

    /// Sets the longest time since the state of an active alert was confirmed.
    pub(crate) fn alert_unconfirmed(&self, age: Duration) {
        self.all().alert_unconfirmed.get_or_create(&[]).set(age.as_secs_f64());
    }

    pub(crate) fn data_age(&self, data: &'static str, age: Duration) {
        self.all().data_ages.get_or_create(&[("data", data)]).set(age.as_secs_f64());
    }

    /// Measures a store operation until the returned value is dropped.
    #[must_use]
    pub(crate) fn store_operation(&self, name: &'static str) -> StoreOperation<'_> {
        StoreOperation { metrics: self, name, started: Instant::now() }
    }

    pub(crate) fn count_cache_use(&self, how: CacheUse) {
        match how {
            CacheUse::Hit => &self.all().cache_hits,
            CacheUse::Wait => &self.all().cache_waits,
            CacheUse::Miss => &self.all().cache_misses,
        }
        .inc();
    }

    pub(crate) fn request_rejected(&self, why: Rejection) {
        self.all().requests_rejected.get_or_create(&why.labels()).inc();
    }

    pub(crate) fn count_stale_response(&self) {
        self.all().stale_responses.inc();
    }

    pub(crate) fn cache_size(&self, bytes: usize) {
        self.all().cache_bytes.set(gauge(bytes));
    }

    /// Adds a callback that sets gauges before the metrics are written. It must be quick, must not block, and should hold weak
    /// references, because it lives as long as these metrics.
    pub(crate) fn add_source(&self, source: impl Fn(&Self) + Send + Sync + 'static) {
        self.sources().push(Box::new(source));
    }

    /// Updates the gauges with values from the process and from other modules, then writes all metrics.
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
