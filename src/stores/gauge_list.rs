use super::gauges::MOST_RECENT;
use super::{GaugeQuery, Store, StoreError, Versioned};
use crate::model::{GaugeActivity, GaugeLayer, GaugeStatus, ObservedGauge, Quality, Timestamp, Validity};

/// Which gauges to list, with their status and trend.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GaugeListQuery {
    /// Which readings to list.
    pub readings: GaugeQuery,
    /// Whether gauges without such a reading are listed as well.
    pub with_silent: bool,
    /// Whether only the newest of these readings is listed.
    pub only_latest: bool,
}

impl GaugeListQuery {
    /// Runs the query on a store whose [`recent_readings`](super::GaugeStore::recent_readings) have the activity of gauges.
    pub(super) async fn run(
        &self,
        store: &dyn Store,
        now: Timestamp,
    ) -> Result<Versioned<GaugeLayer>, StoreError> {
        // Read first, so that the listed readings are at least as new as this revision.
        let since = now.saturating_sub(GaugeActivity::WINDOW);
        let recent = store.recent_readings(since).await?;
        let selector = &self.readings.selector;
        let mut gauges = recent.value.0;
        gauges.retain(|gauge| selector.matches_codes(None, gauge.gauge.region_code.as_deref()));
        let next_changes = gauges.iter().filter_map(|gauge| gauge.activity.as_ref()?.next_change(now));
        let until = next_changes.min().unwrap_or(Timestamp::LAST);
        let status_validity = Validity::Between { from: now, until }.and(recent.validity);
        let (first, _) = self.readings.window.bounds(now);
        let has_all = since <= first && gauges.iter().all(|gauge| gauge.observations.len() < MOST_RECENT);
        let validity = if self.only_latest || has_all {
            self.select(&mut gauges, now)
        } else {
            let listed = store.gauges(&self.readings).await?;
            replace_readings(&mut gauges, listed.value.0);
            listed.validity
        };
        gauges.retain(|gauge| self.with_silent || !gauge.observations.is_empty());
        Ok(Versioned::new(recent.revision, GaugeLayer(gauges)).within(status_validity.and(validity)))
    }

    /// Keeps the readings to list, of recent ones that include them. Returns the validity of the result.
    fn select(&self, gauges: &mut [ObservedGauge], now: Timestamp) -> Validity {
        let GaugeQuery { window, with_failed, .. } = self.readings;
        let (first, last) = window.bounds(now);
        let mut next = None;
        for ObservedGauge { observations, .. } in &mut *gauges {
            let later = observations.partition_point(|reading| reading.observed_at <= last);
            next = observations.drain(later..).map(|reading| reading.observed_at).chain(next).min();
            observations.retain(|reading| {
                first <= reading.observed_at && (with_failed || reading.quality.is_usable())
            });
            if self.only_latest {
                observations.drain(..observations.len().saturating_sub(1));
            }
        }
        let oldest = gauges.iter().filter_map(|gauge| gauge.observations.first()?.observed_at.into());
        window.validity(now, oldest.min(), next)
    }
}

/// Replaces the readings of gauges by those `listed`. Both are ordered by identifier.
fn replace_readings(gauges: &mut [ObservedGauge], listed: Vec<ObservedGauge>) {
    for gauge in gauges.iter_mut() {
        gauge.observations.clear();
    }
    for ObservedGauge { gauge, observations, .. } in listed {
        if let Ok(index) = gauges.binary_search_by(|other| other.gauge.id.cmp(&gauge.id)) {
            // A test over many hours sees more than the newest readings.
            let is_suspect =
                observations.last().is_some_and(|last| matches!(last.quality, Quality::Suspect(_)));
            if let Some(activity) = &mut gauges[index].activity
                && is_suspect
                && activity.status == GaugeStatus::Ok
            {
                activity.status = GaugeStatus::Suspect;
            }
            gauges[index].observations = observations;
        }
    }
}
