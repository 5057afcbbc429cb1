//! The areas that need attention, as they follow from a store. The list is cached while nothing has changed, for a minute at most.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::{
    EntryQuery, FloodQuery, GaugeQuery, ReportQuery, Resource, Revision, Store, StoreError, WaitingQuery,
    Window,
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

/// The list, which is made at most every two seconds for all who need it.
#[derive(Debug)]
pub(crate) struct AttentionList {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    rules: AttentionRules,
    made: Throttle<Result<VersionedList, Arc<StoreError>>>,
}

/// A list, and what it was made from.
type VersionedList = (Key, Arc<Vec<AttentionItem>>);

/// How long after a list was made the next one is made.
const PERIOD: Duration = Duration::from_secs(2);

/// How many of the reports that wait for review count.
const MOST_WAITING: u32 = 1_000;
/// How many of one sender count.
const MOST_OF_SENDER: u32 = 20;

/// The list stays the same while this does: the revisions, and the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key([Revision; 4], Timestamp);

impl AttentionList {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, rules: AttentionRules) -> Self {
        Self { store, made: Throttle::new(PERIOD, Arc::clone(&clock)), clock, rules }
    }

    /// Returns the list. What reports, readings and changes cause is in it at once; what time and reports that wait for review
    /// cause, within a minute. Waits for up to two seconds if a list was made lately and something has changed since.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) async fn get(&self) -> Result<Arc<Vec<AttentionItem>>, StoreError> {
        let key = self.key().await?;
        if let Some((Ok((known, list)), _)) = self.made.last_value()
            && known == key
        {
            return Ok(list);
        }
        let making = async { self.make().await.map_err(Arc::new) };
        self.made.get(making).await.map(|(_, list)| list).map_err(shared)
    }

    /// Returns the list without waiting: it may be two seconds old.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) async fn recent(&self) -> Result<Arc<Vec<AttentionItem>>, StoreError> {
        match self.made.last_value() {
            Some((recent, true)) => recent.map(|(_, list)| list).map_err(shared),
            _ => self.get().await,
        }
    }

    /// Returns what the list is made from. It is read before the list, so a change meanwhile makes a new list.
    async fn key(&self) -> Result<Key, StoreError> {
        Ok(Key(self.revisions().await?, self.clock.now().floor(Duration::from_mins(1))))
    }

    async fn revisions(&self) -> Result<[Revision; 4], StoreError> {
        let mut revisions = [Revision(0); 4];
        let all = [Resource::Floods, Resource::Reports, Resource::Gauges, Resource::Places];
        for (resource, revision) in all.into_iter().zip(&mut revisions) {
            *revision = self.store.revision(resource).await?;
        }
        Ok(revisions)
    }

    async fn make(&self) -> Result<VersionedList, StoreError> {
        let (key, now, rules) = (self.key().await?, self.clock.now(), self.rules);
        let (selector, window) = (AreaSelector::default(), Window::Last(rules.window));
        let entries = EntryQuery {
            selector: AreaSelector::default(),
            area: None,
            from: now.before(rules.window),
            until: Timestamp::LAST,
        };
        let entries = self.store.flood_entries(&entries).await?.value;
        let layer = self.store.floods(&FloodQuery::default()).await?.value;
        let disaster = Some(DisasterType::Flood);
        let reports = ReportQuery { selector: selector.clone(), disaster, training: false, window };
        let reports = self.store.reports(&reports).await?.value;
        let query = WaitingQuery { most: MOST_WAITING, of_each: MOST_OF_SENDER };
        let waiting =
            self.store.waiting_reports(query).await?.reports.into_iter().map(|waiting| waiting.report);
        let waiting: Vec<_> =
            waiting.filter(|report| report.content.disaster_type == DisasterType::Flood).collect();
        let gauges = self.store.gauges(&GaugeQuery { selector, window }).await?.value;
        let making = off_thread(move |_| {
            let states: HashMap<_, CurrentState> =
                layer.features().filter_map(|flood| Some((flood.area.id, flood.current?))).collect();
            let changed = entries.iter().filter_map(|(area, entries)| Some((*area, entries.last()?.at)));
            let areas = layer.areas();
            let scene = AttentionInput {
                areas,
                changed: changed.collect(),
                reports: &reports.reports,
                waiting: &waiting,
                gauges: &gauges.0,
                now,
                states,
            };
            let listed = attention(&scene, &rules).into_iter().filter_map(|attention| {
                let area = &areas[areas.position(attention.area_id)?];
                let current = scene.states.get(&area.id);
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
            Arc::new(listed.collect())
        });
        let list = making.await.map_err(|error| StoreError::Backend { source: error.into() })?;
        Ok((key, list))
    }
}

/// Returns the error of a list for one of those who wanted it.
fn shared(error: Arc<StoreError>) -> StoreError {
    match *error {
        StoreError::Unavailable { retry_after, .. } => {
            StoreError::Unavailable { retry_after, source: error.into() }
        }
        _ => StoreError::Backend { source: error.into() },
    }
}
