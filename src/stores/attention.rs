//! Computes the list of areas that need attention. Caches it until the data changes, for at most a minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::{
    EntryQuery, FloodQuery, GaugeQuery, ReportQuery, Resource, Revision, Store, StoreError, WaitingQuery,
    Window, from_shared,
};
use crate::model::{
    AreaSelector, Attention, AttentionInput, AttentionRules, Clock, CurrentState, DisasterType, FloodState,
    GaugeActivity, Timestamp, attention,
};
use crate::runtime::off_thread;
use crate::runtime::throttle::Throttle;

/// An area that needs attention, with its names and its state.
#[derive(Debug, Serialize)]
pub(crate) struct AttentionItem {
    #[serde(flatten)]
    pub(crate) attention: Attention,
    pub(crate) area_name: String,
    pub(crate) parent_name: String,
    pub(crate) city_name: String,
    pub(crate) state: Option<FloodState>,
    pub(crate) last_updated: Option<Timestamp>,
    pub(crate) flooded_since: Option<Timestamp>,
    pub(crate) confirmed: Option<Timestamp>,
}

/// Computes the attention list at most once every two seconds. All callers share the result.
#[derive(Debug)]
pub(crate) struct AttentionList {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    rules: AttentionRules,
    cached: Throttle<Result<VersionedList, Arc<StoreError>>>,
}

type VersionedList = (CacheKey, Arc<Vec<AttentionItem>>);

const PERIOD: Duration = Duration::from_secs(2);

const MAX_WAITING: u32 = 1_000;
/// The maximum number of waiting reports that are read from one sender.
const MAX_PER_SENDER: u32 = 20;

/// The revisions of all data that the list depends on, and the current minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CacheKey([Revision; 4], Timestamp);

impl AttentionList {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, rules: AttentionRules) -> Self {
        Self { store, cached: Throttle::new(PERIOD, Arc::clone(&clock)), clock, rules }
    }

    /// Returns the list. It reflects a new report, reading or change at once, and effects of time and waiting reports within a
    /// minute. Waits up to two seconds if the data has changed soon after the last computation.
    pub(crate) async fn get(&self) -> Result<Arc<Vec<AttentionItem>>, StoreError> {
        let key = self.key().await?;
        if let Some((Ok((cached_key, list)), _)) = self.cached.last_value()
            && cached_key == key
        {
            return Ok(list);
        }
        let computation = async { self.compute().await.map_err(Arc::new) };
        self.cached.get(computation).await.map(|(_, list)| list).map_err(from_shared)
    }

    /// Returns the cached list if it is less than two seconds old, even if the data has changed. Otherwise calls `get`.
    pub(crate) async fn recent(&self) -> Result<Arc<Vec<AttentionItem>>, StoreError> {
        match self.cached.last_value() {
            Some((recent, true)) => recent.map(|(_, list)| list).map_err(from_shared),
            _ => self.get().await,
        }
    }

    /// Returns the cache key. Read it before the data, so that a change during the computation leads to another computation.
    async fn key(&self) -> Result<CacheKey, StoreError> {
        Ok(CacheKey(self.revisions().await?, self.clock.now().floor(Duration::from_mins(1))))
    }

    async fn revisions(&self) -> Result<[Revision; 4], StoreError> {
        let mut revisions = [Revision(0); 4];
        let resources = [Resource::Floods, Resource::Reports, Resource::Gauges, Resource::Places];
        for (resource, revision) in resources.into_iter().zip(&mut revisions) {
            *revision = self.store.revision(resource).await?;
        }
        Ok(revisions)
    }

    async fn compute(&self) -> Result<VersionedList, StoreError> {
        let (key, now, rules) = (self.key().await?, self.clock.now(), self.rules);
        let (selector, window) = (AreaSelector::default(), Window::Last(rules.window));
        let entries = EntryQuery {
            selector: AreaSelector::default(),
            area: None,
            from: now.saturating_sub(rules.window),
            until: Timestamp::LAST,
        };
        let entries = self.store.flood_entries(&entries).await?.value;
        let layer = self.store.floods(&FloodQuery::default()).await?.value;
        let disaster = Some(DisasterType::Flood);
        let reports = ReportQuery { selector: selector.clone(), disaster, training: false, window };
        let reports = self.store.reports(&reports).await?.value;
        let query = WaitingQuery { most: MAX_WAITING, per_sender: MAX_PER_SENDER };
        let waiting =
            self.store.waiting_reports(query).await?.reports.into_iter().map(|waiting| waiting.report);
        let waiting: Vec<_> =
            waiting.filter(|report| report.content.disaster_type == DisasterType::Flood).collect();
        let mut gauges = self.store.gauges(&GaugeQuery { selector, window, with_failed: false }).await?.value;
        let recent = self.store.recent_readings(now.saturating_sub(GaugeActivity::WINDOW)).await?.value;
        let activities = recent.0.into_iter().map(|gauge| (gauge.gauge.id.clone(), gauge.activity));
        let mut activities: HashMap<_, _> = activities.collect();
        for gauge in &mut gauges.0 {
            gauge.activity = activities.remove(&gauge.gauge.id).flatten();
        }
        let computation = off_thread(move |_| {
            let states: HashMap<_, CurrentState> =
                layer.features().filter_map(|flood| Some((flood.area.id, flood.current?))).collect();
            let changed = entries.iter().filter_map(|(area, entries)| Some((*area, entries.last()?.at)));
            let areas = layer.areas();
            let input = AttentionInput {
                areas,
                changed: changed.collect(),
                reports: &reports.reports,
                waiting: &waiting,
                gauges: &gauges.0,
                now,
                states,
            };
            let items = attention(&input, &rules).into_iter().filter_map(|attention| {
                let area = areas.find(attention.area_id)?;
                let current = input.states.get(&area.id);
                Some(AttentionItem {
                    area_name: area.name.clone(),
                    parent_name: area.parent_name.clone(),
                    city_name: area.city_name.clone(),
                    state: current.map(|current| current.state),
                    last_updated: current.map(|current| current.last_updated),
                    flooded_since: current.and_then(|current| current.flooded_since),
                    confirmed: current.and_then(|current| current.confirmed),
                    attention,
                })
            });
            Arc::new(items.collect())
        });
        let list = computation.await.map_err(|error| StoreError::Backend { source: error.into() })?;
        Ok((key, list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::demo;
    use crate::data::folder::Dataset;
    use crate::model::{Actor, AlertLevel, Gauge, GaugeRules, ManualClock, Mute, Observation, ObservedGauge};
    use crate::stores::JudgedGauges;
    use crate::stores::memory::MemoryStore;

    fn list(dataset: Dataset, clock: &Arc<ManualClock>, rules: &GaugeRules) -> AttentionList {
        let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
        let store = Arc::new(MemoryStore::new(dataset, Arc::clone(&clock)));
        let store = Arc::new(JudgedGauges::new(store, rules.clone(), Arc::clone(&clock)));
        AttentionList::new(store, clock, AttentionRules::default())
    }

    /// Puts a sentinel and a spike beside each reading, and beside each gauge a muted one with the worst alarm.
    fn spoil(demo: &mut Dataset, now: Timestamp) {
        let mut muted = Vec::new();
        for observed in &mut demo.gauges {
            let readings = std::mem::take(&mut observed.observations);
            let beside = |reading: &Observation, seconds, level| {
                let observed_at = reading.observed_at.saturating_sub(Duration::from_secs(seconds));
                let worst = Some((AlertLevel::Critical, "SIAGA I".into()));
                Observation::new(observed_at, level, worst, None).unwrap()
            };
            let alarms = readings.iter().map(|reading| beside(reading, 0, 990.0)).collect();
            observed.observations = readings
                .into_iter()
                .enumerate()
                .flat_map(|(index, reading)| {
                    // A spike needs a reading before it.
                    let spike = (index > 0).then(|| beside(&reading, 60, 1e6));
                    [Some(beside(&reading, 90, -999.0)), spike, Some(reading)]
                })
                .flatten()
                .collect();
            let until = Some(now.saturating_add(Duration::from_hours(72)));
            let by = Actor { subject: "desk".to_owned(), username: None };
            let mute = Some(Mute { at: now, until, reason: "a test".into(), by });
            let id = format!("{}-MUTED", observed.gauge.id);
            muted.push(ObservedGauge::new(
                Arc::new(Gauge { id, mute, ..Gauge::clone(&observed.gauge) }),
                alarms,
            ));
        }
        demo.gauges.extend(muted);
        demo.gauges.sort_by(|one, other| one.gauge.id.cmp(&other.gauge.id));
    }

    #[rocket::async_test]
    async fn sentinels_spikes_and_muted_gauges_change_no_line_of_the_demos_attention_for_48_hours() {
        let now = Timestamp::parse("2026-01-02T03:04:05Z").unwrap();
        let plain = demo::dataset(now).unwrap();
        let mut spoilt = demo::dataset(now).unwrap();
        spoil(&mut spoilt, now);
        let clock = Arc::new(ManualClock::new(now));
        let with_spikes = GaugeRules { spike: Some(1e4), ..GaugeRules::default() };
        let lists = [list(plain, &clock, &GaugeRules::default()), list(spoilt, &clock, &with_spikes)];
        let mut gauges_were_reasons = false;
        for hour in 0..48 {
            clock.set(now.saturating_add(Duration::from_hours(hour)));
            let mut texts = Vec::new();
            for list in &lists {
                texts.push(serde_json::to_string_pretty(&*list.get().await.unwrap()).unwrap());
            }
            gauges_were_reasons |= texts[0].contains("gaugeid");
            assert!(texts[0] == texts[1], "after {hour} h");
        }
        assert!(gauges_were_reasons);
    }
}
