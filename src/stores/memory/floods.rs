use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use imbl::Vector;

use super::MemoryStore;
use crate::model::{
    ArchiveRecord, AreaId, AreaSelector, AreaSet, FloodChange, FloodLayer, FloodStateRecord, SeriesPoint,
    Standing, Timestamp, archive, series,
};
use crate::stores::{FloodQuery, FloodStore, HistoryQuery, Revision, SetFloodState, StoreError, Versioned};

/// Areas, their states and the log.
#[derive(Debug)]
pub(super) struct Floods {
    areas: Arc<AreaSet>,
    snapshot: ArcSwap<Snapshot>,
    /// Held by the one writer; readers never take it.
    writing: Mutex<()>,
}

/// States and log of one moment, always of the same one.
#[derive(Clone, Debug)]
struct Snapshot {
    revision: Revision,
    /// By position in the area set.
    standing: Vector<Option<Standing>>,
    /// Ascends in time.
    log: Vector<Arc<FloodChange>>,
}

impl Snapshot {
    fn apply(&mut self, position: usize, change: FloodChange) {
        let standing = change.state.map(|state| Standing { state, since: change.at });
        self.standing.set(position, standing);
        self.log.push_back(Arc::new(change));
    }
}

impl Floods {
    /// `log` must ascend in time and name areas of the set only, as a data set's log does.
    pub(super) fn new(areas: AreaSet, log: Vec<FloodChange>) -> Self {
        let mut snapshot = Snapshot {
            revision: Revision(0),
            standing: std::iter::repeat_n(None, areas.len()).collect(),
            log: Vector::new(),
        };
        for change in log {
            if let Some(position) = areas.position(change.area) {
                snapshot.apply(position, change);
            }
        }
        Self { areas: Arc::new(areas), snapshot: ArcSwap::from_pointee(snapshot), writing: Mutex::new(()) }
    }

    pub(super) fn areas(&self) -> &AreaSet {
        &self.areas
    }

    pub(super) fn revision(&self) -> Revision {
        self.snapshot.load().revision
    }

    /// Positions and states of the areas asked for.
    fn select<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        query: &'a FloodQuery,
    ) -> impl Iterator<Item = (usize, Option<Standing>)> + 'a {
        let states = snapshot.standing.iter().copied();
        self.areas.iter().zip(states).enumerate().filter_map(|(position, (area, standing))| {
            let high_enough = query
                .minimum_state
                .is_none_or(|minimum| standing.is_some_and(|standing| standing.state >= minimum));
            (high_enough && query.selector.matches(area)).then_some((position, standing))
        })
    }

    /// The log entries of the areas asked for, oldest first.
    fn history<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        selector: &'a AreaSelector,
    ) -> impl Iterator<Item = &'a FloodChange> + 'a {
        let everywhere = *selector == AreaSelector::default();
        snapshot.log.iter().map(AsRef::as_ref).filter(move |change| {
            everywhere
                || self
                    .areas
                    .position(change.area)
                    .is_some_and(|position| selector.matches(&self.areas[position]))
        })
    }

    fn set(&self, order: SetFloodState, now: impl Fn() -> Timestamp) -> Option<FloodChange> {
        let position = self.areas.position(order.area)?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&self.snapshot.load());
        // Read under the lock, and never earlier than the newest entry: a clock can step back.
        let at = next.log.last().map_or_else(&now, |newest| now().max(newest.at));
        let change = FloodChange { area: order.area, state: order.state, at, by: order.by };
        next.apply(position, change.clone());
        next.revision.0 += 1;
        self.snapshot.store(Arc::new(next));
        Some(change)
    }
}

#[async_trait]
impl FloodStore for MemoryStore {
    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        let snapshot = self.floods.snapshot.load_full();
        let selected = self.floods.select(&snapshot, query).collect();
        Ok(snapshot.versioned(FloodLayer::new(Arc::clone(&self.floods.areas), selected)))
    }

    async fn flood_states(&self, query: &FloodQuery) -> Result<Versioned<Vec<FloodStateRecord>>, StoreError> {
        let snapshot = self.floods.snapshot.load_full();
        let records = self
            .floods
            .select(&snapshot, query)
            .filter_map(|(position, standing)| {
                let Standing { state, since } = standing?;
                let area_id = self.floods.areas[position].id;
                Some(FloodStateRecord { area_id, state, last_updated: since })
            })
            .collect();
        Ok(snapshot.versioned(records))
    }

    async fn flood_archive(&self, query: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError> {
        let snapshot = self.floods.snapshot.load_full();
        let records = archive(self.floods.history(&snapshot, &query.selector), &query.period);
        Ok(snapshot.versioned(records))
    }

    async fn flood_series(&self, query: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let snapshot = self.floods.snapshot.load_full();
        let points = series(self.floods.history(&snapshot, &query.selector), &query.period);
        Ok(snapshot.versioned(points))
    }

    async fn flood_log(&self, area: AreaId) -> Result<Vec<FloodChange>, StoreError> {
        let snapshot = self.floods.snapshot.load_full();
        let of_area = snapshot.log.iter().filter(|change| change.area == area);
        Ok(of_area.map(|change| FloodChange::clone(change)).collect())
    }

    async fn set_flood_state(&self, order: SetFloodState) -> Result<FloodChange, StoreError> {
        let what = format!("local area {}", order.area);
        self.floods.set(order, || self.clock.now()).ok_or(StoreError::NotFound { what })
    }
}

impl Snapshot {
    fn versioned<T>(&self, value: T) -> Versioned<T> {
        Versioned { revision: self.revision, value }
    }
}
