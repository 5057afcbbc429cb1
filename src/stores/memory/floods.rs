use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use imbl::Vector;

use super::MemoryStore;
use super::snapshot::{Snapshots, Written};
use crate::model::{
    ArchiveRecord, AreaId, AreaSelector, AreaSet, FloodChange, FloodLayer, FloodStateRecord, SeriesPoint,
    Standing, Timestamp, archive, series,
};
use crate::stores::{FloodQuery, FloodStore, HistoryQuery, Revision, SetFloodState, StoreError, Versioned};

/// Areas, their states and the log.
#[derive(Debug)]
pub(super) struct Floods {
    areas: Arc<AreaSet>,
    snapshots: Snapshots<Snapshot>,
}

/// States and log of one moment, always of the same one.
#[derive(Clone, Debug)]
struct Snapshot {
    /// The last change of each area, by position in the area set.
    last: Vector<Option<Arc<FloodChange>>>,
    /// Ascends in time.
    log: Vector<Arc<FloodChange>>,
}

impl Snapshot {
    fn apply(&mut self, position: usize, change: FloodChange) {
        let change = Arc::new(change);
        self.last.set(position, Some(Arc::clone(&change)));
        self.log.push_back(change);
    }

    /// When a change of an area takes effect that is made now: after the one before, and not before any other, though
    /// the clock may have stepped back.
    fn moment(&self, position: usize, now: Timestamp) -> Timestamp {
        const NEXT: Duration = Duration::from_millis(1);
        let newest = self.log.last().map_or(now, |newest| now.max(newest.at));
        self.last[position].as_ref().map_or(newest, |last| newest.max(last.at.after(NEXT)))
    }
}

impl Floods {
    /// `log` must ascend in time and name areas of the set only, as a data set's log does.
    pub(super) fn new(areas: Arc<AreaSet>, log: Vec<FloodChange>) -> Self {
        let last = std::iter::repeat_n(None, areas.len()).collect();
        let mut snapshot = Snapshot { last, log: Vector::new() };
        for change in log {
            if let Some(position) = areas.position(change.area) {
                snapshot.apply(position, change);
            }
        }
        Self { areas, snapshots: Snapshots::new(snapshot) }
    }

    pub(super) fn revision(&self) -> Revision {
        self.snapshots.revision()
    }

    /// Positions and states of the areas asked for.
    fn select<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        query: &'a FloodQuery,
    ) -> impl Iterator<Item = (usize, Option<Standing>)> + 'a {
        let states = snapshot.last.iter().map(|last| last.as_ref().and_then(|change| change.standing()));
        self.areas
            .iter()
            .zip(states)
            .enumerate()
            .filter(|(_, (area, standing))| query.asks_for(area, *standing))
            .map(|(position, (_, standing))| (position, standing))
    }

    /// The log entries of the areas asked for, oldest first.
    fn history<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        selector: &'a AreaSelector,
    ) -> impl Iterator<Item = &'a FloodChange> + 'a {
        let everywhere = selector.is_everything();
        snapshot.log.iter().map(AsRef::as_ref).filter(move |change| {
            everywhere
                || self
                    .areas
                    .position(change.area)
                    .is_some_and(|position| selector.matches(&self.areas[position]))
        })
    }

    fn set(&self, order: SetFloodState, now: impl FnOnce() -> Timestamp) -> Result<FloodChange, StoreError> {
        let Some(position) = self.areas.position(order.area) else {
            return Err(StoreError::NotFound { what: format!("local area {}", order.area) });
        };
        self.snapshots.write(|snapshot| {
            // Read by the one writer, so that changes take effect in the order of their moments.
            let at = snapshot.moment(position, now());
            let change = FloodChange { area: order.area, state: order.state, at, by: order.by };
            snapshot.apply(position, change.clone());
            Ok(Written::Visible(change))
        })
    }
}

#[async_trait]
impl FloodStore for MemoryStore {
    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        let snapshot = self.floods.snapshots.read();
        let selected = self.floods.select(&snapshot.value, query).collect();
        Ok(snapshot.of(FloodLayer::new(Arc::clone(&self.floods.areas), selected)))
    }

    async fn flood_states(&self, query: &FloodQuery) -> Result<Versioned<Vec<FloodStateRecord>>, StoreError> {
        let snapshot = self.floods.snapshots.read();
        let selected = self.floods.select(&snapshot.value, query);
        let records = selected.filter_map(|(position, standing)| {
            let Standing { state, since } = standing?;
            Some(FloodStateRecord { area_id: self.floods.areas[position].id, state, last_updated: since })
        });
        Ok(snapshot.of(records.collect()))
    }

    async fn flood_archive(&self, query: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError> {
        let snapshot = self.floods.snapshots.read();
        let history = self.floods.history(&snapshot.value, &query.selector);
        Ok(snapshot.of(archive(history, &query.period)))
    }

    async fn flood_series(&self, query: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let snapshot = self.floods.snapshots.read();
        let history = self.floods.history(&snapshot.value, &query.selector);
        Ok(snapshot.of(series(history, &query.period)))
    }

    async fn flood_log(&self, area: AreaId) -> Result<Vec<FloodChange>, StoreError> {
        let snapshot = self.floods.snapshots.read();
        let of_area = snapshot.value.log.iter().filter(|change| change.area == area);
        Ok(of_area.map(|change| FloodChange::clone(change)).collect())
    }

    async fn set_flood_state(&self, order: SetFloodState) -> Result<FloodChange, StoreError> {
        self.floods.set(order, || self.clock.now())
    }
}
