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
    Timestamp, attention,
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
    gauge_interval: Duration,
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
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        rules: AttentionRules,
        gauge_interval: Duration,
    ) -> Self {
        Self { store, cached: Throttle::new(PERIOD, Arc::clone(&clock)), clock, rules, gauge_interval }
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
        let gauge_interval = self.gauge_interval;
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
        let gauges = self.store.gauges(&GaugeQuery { selector, window, with_failed: false }).await?.value;
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
                gauge_interval,
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
