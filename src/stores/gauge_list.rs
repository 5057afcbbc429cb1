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
        let recent = store.recent_readings(now.saturating_sub(GaugeActivity::WINDOW)).await?;
        let selector = &self.readings.selector;
        let mut gauges = recent.value.0;
        gauges.retain(|gauge| selector.matches_codes(None, gauge.gauge.region_code.as_deref()));
        let next_changes = gauges.iter().filter_map(|gauge| gauge.activity.as_ref()?.next_change(now));
        let status_validity =
            Validity::Between { from: now, until: next_changes.min().unwrap_or(Timestamp::LAST) };
        let validity = if self.only_latest {
            self.keep_latest(&mut gauges, now)
        } else {
            let listed = store.gauges(&self.readings).await?;
            replace_readings(&mut gauges, listed.value.0);
            listed.validity
        };
        gauges.retain(|gauge| self.with_silent || !gauge.observations.is_empty());
        Ok(Versioned::new(recent.revision, GaugeLayer(gauges)).within(status_validity.and(validity)))
    }

    /// Keeps the newest reading of each gauge in the window. Returns the validity of the result.
    fn keep_latest(&self, gauges: &mut [ObservedGauge], now: Timestamp) -> Validity {
        let GaugeQuery { window, with_failed, .. } = self.readings;
        let (first, last) = window.bounds(now);
        let mut next = None;
        for gauge in &mut *gauges {
            let shown = gauge.observations.partition_point(|reading| reading.observed_at <= last);
            next = gauge.observations[shown..].iter().map(|reading| reading.observed_at).chain(next).min();
            gauge.observations.truncate(shown);
            let newest =
                gauge.observations.iter().rposition(|reading| with_failed || reading.quality.is_usable());
            gauge.observations =
                newest.map(|index| gauge.observations.swap_remove(index)).into_iter().collect();
            gauge.observations.retain(|reading| first <= reading.observed_at);
        }
        let oldest =
            gauges.iter().filter_map(|gauge| gauge.observations.first()).map(|reading| reading.observed_at);
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
