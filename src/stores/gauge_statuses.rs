use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::time;

use super::{Store, StoreError, from_shared};
use crate::model::{Clock, GaugeActivity, GaugeStatus, ObservedGauge, Timestamp};
use crate::runtime::throttle::Throttle;

/// The status of every gauge, read at most every 30 seconds for all who ask.
#[derive(Debug)]
pub(crate) struct GaugeStatuses {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    cached: Throttle<Result<Arc<[GaugeReport]>, Arc<StoreError>>>,
}

const PERIOD: Duration = Duration::from_secs(30);
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(1);

/// A gauge as operators see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct GaugeReport {
    pub(crate) gaugeid: String,
    pub(crate) gaugenameid: String,
    pub(crate) status: GaugeStatus,
    /// `None` if the gauge was never read.
    pub(crate) last_heard: Option<Timestamp>,
    /// When the gauge falls or fell silent.
    pub(crate) silent_since: Option<Timestamp>,
    /// When a mute last began or ended.
    #[serde(skip)]
    pub(crate) muted: Option<Timestamp>,
    pub(crate) lat: f64,
    pub(crate) lng: f64,
}

/// How many gauges there are, and which of them are silent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct GaugeSummary {
    total: usize,
    /// The first 100.
    silent: Vec<String>,
    never: usize,
    #[serde(skip)]
    heard: usize,
}

const MOST_NAMED: usize = 100;

impl GaugeStatuses {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, cached: Throttle::new(PERIOD, Arc::clone(&clock)), clock }
    }

    /// Returns all gauges by identifier. A status can be up to 30 seconds old.
    pub(crate) async fn get(&self) -> Result<Arc<[GaugeReport]>, StoreError> {
        let reports = match self.cached.last_value() {
            Some((reports, true)) => reports,
            _ => self.cached.get(async { self.read().await.map_err(Arc::new) }).await,
        };
        reports.map_err(from_shared)
    }

    /// Returns the summary for a health check; `None` if the store does not answer within a second.
    pub(crate) async fn summary(&self) -> Option<GaugeSummary> {
        let gauges = time::timeout(SUMMARY_TIMEOUT, self.get()).await;
        Some(GaugeSummary::new(&gauges.ok()?.ok()?))
    }

    async fn read(&self) -> Result<Arc<[GaugeReport]>, StoreError> {
        let now = self.clock.now();
        let recent = self.store.recent_readings(now.saturating_sub(GaugeActivity::WINDOW)).await?.value;
        Ok(recent.0.into_iter().filter_map(|observed| report(observed, now)).collect())
    }
}

fn report(observed: ObservedGauge, now: Timestamp) -> Option<GaugeReport> {
    let ObservedGauge { gauge, activity, .. } = observed;
    let GaugeActivity { status, last, silent_since, .. } = *activity?;
    let place = gauge.location.coord();
    Some(GaugeReport {
        gaugeid: gauge.id.clone(),
        gaugenameid: gauge.name.clone(),
        status,
        last_heard: last.map(|last| last.observed_at),
        silent_since,
        muted: gauge.mute.as_ref().map(|mute| mute.until.filter(|until| *until <= now).unwrap_or(mute.at)),
        lat: place.y,
        lng: place.x,
    })
}

impl GaugeSummary {
    fn new(gauges: &[GaugeReport]) -> Self {
        let with = |status| gauges.iter().filter(move |gauge| gauge.status == status);
        let silent = with(GaugeStatus::Silent).take(MOST_NAMED).map(|gauge| gauge.gaugeid.clone());
        Self {
            total: gauges.len(),
            silent: silent.collect(),
            never: with(GaugeStatus::Never).count(),
            heard: with(GaugeStatus::Ok).count() + with(GaugeStatus::Suspect).count(),
        }
    }

    /// Whether some gauges are silent and none is heard.
    pub(crate) fn is_silent(&self) -> bool {
        self.heard == 0 && !self.silent.is_empty()
    }
}
