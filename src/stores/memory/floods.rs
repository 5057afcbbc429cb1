use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use imbl::{OrdSet, Vector};

use super::area_log::AreaLog;
use super::snapshot::{Snapshots, Written};
use super::{MemoryStore, read_long};
use crate::model::alerts::Entry;
use crate::model::{
    Actor, ArchiveRecord, AreaId, AreaSelector, AreaSet, FloodChange, FloodLayer, SeriesPoint, Standing,
    StateChange, Timestamp, archive, series,
};
use crate::stores::{
    EntryQuery, FloodQuery, FloodStore, HistoryQuery, LogQuery, Revision, SetFloodState, StoreError,
    Versioned,
};
use crate::tasks::Stop;

/// Areas, their states and the log.
#[derive(Debug)]
pub(super) struct Floods {
    areas: Arc<AreaSet>,
    snapshots: Snapshots<Snapshot>,
}

/// The logs at one moment, which also give the states.
#[derive(Clone, Debug)]
struct Snapshot {
    /// The log of each area, by its position in the area set.
    logs: Vector<AreaLog>,
    /// The positions of the areas that have a state.
    flooded: OrdSet<usize>,
    /// When the newest change of any area took effect.
    newest: Option<Timestamp>,
}

impl Snapshot {
    fn apply(&mut self, position: usize, change: StateChange, by: Actor) {
        if let Some(log) = self.logs.get_mut(position) {
            log.push(change, by);
            match change.state {
                Some(_) => self.flooded.insert(position),
                None => self.flooded.remove(&position),
            };
            self.newest = Some(change.at);
        }
    }

    /// Returns the state of the area at a position.
    fn standing(&self, position: usize) -> Option<Standing> {
        self.logs.get(position)?.last()?.standing()
    }

    /// Returns when a change of an area that is made now takes effect: at least 1 ms after the area's previous change,
    /// and not before any other change, even if the clock has stepped back.
    fn moment(&self, position: usize, now: Timestamp) -> Timestamp {
        const NEXT: Duration = Duration::from_millis(1);
        let newest = self.newest.map_or(now, |newest| now.max(newest));
        let last = self.logs.get(position).and_then(AreaLog::last);
        last.map_or(newest, |last| newest.max(last.at.after(NEXT)))
    }
}

impl Floods {
    /// Creates the floods from a log, which must ascend in time and name only areas of the set, as a data set's log
    /// does.
    pub(super) fn new(areas: Arc<AreaSet>, log: Vec<FloodChange>) -> Self {
        let logs = std::iter::repeat_n(AreaLog::default(), areas.len()).collect();
        let mut snapshot = Snapshot { logs, flooded: OrdSet::new(), newest: None };
        for FloodChange { area, state, at, by } in log {
            if let Some(position) = areas.position(area) {
                snapshot.apply(position, StateChange { state, at }, by);
            }
        }
        Self { areas, snapshots: Snapshots::new(snapshot) }
    }

    /// Returns the same floods, to be changed on their own.
    pub(super) fn fork(&self) -> Self {
        Self { areas: Arc::clone(&self.areas), snapshots: self.snapshots.fork() }
    }

    /// Makes the revision go on from another one.
    pub(super) fn at(self, revision: Revision) -> Self {
        Self { snapshots: self.snapshots.at(revision), ..self }
    }

    pub(super) fn revision(&self) -> Revision {
        self.snapshots.revision()
    }

    /// Returns when the newest change took effect, and how many areas have each state, from 1 to 4.
    pub(super) fn overview(&self) -> (Option<Timestamp>, [u64; 4]) {
        let snapshot = self.snapshots.read();
        let mut flooded = [0; 4];
        for standing in
            snapshot.value.flooded.iter().filter_map(|position| snapshot.value.standing(*position))
        {
            flooded[usize::from(standing.state.code()) - 1] += 1;
        }
        (snapshot.value.newest, flooded)
    }

    /// Returns the selected areas with their states. With a minimum state, this costs as much as there are flooded areas.
    fn select(&self, snapshot: &Snapshot, query: &FloodQuery) -> FloodLayer {
        let is_selected = |(position, standing): &(usize, Option<Standing>)| {
            query.asks_for(&self.areas[*position], *standing)
        };
        let selected = if query.minimum_state.is_some() {
            let flooded = snapshot.flooded.iter().map(|position| (*position, snapshot.standing(*position)));
            flooded.filter(is_selected).collect()
        } else {
            let states = snapshot.logs.iter().map(|log| log.last().and_then(StateChange::standing));
            states.enumerate().filter(is_selected).collect()
        };
        FloodLayer::new(Arc::clone(&self.areas), selected)
    }

    fn logs(&self) -> Logs {
        Logs { areas: Arc::clone(&self.areas), snapshot: self.snapshots.read() }
    }

    fn set(&self, order: SetFloodState, now: impl FnOnce() -> Timestamp) -> Result<FloodChange, StoreError> {
        let Some(position) = self.areas.position(order.area) else {
            return Err(StoreError::no_area(order.area));
        };
        self.snapshots.write(|snapshot| {
            let newest = snapshot.logs.get(position).and_then(AreaLog::last).map(|last| last.at);
            if let Some(after) = order.after.filter(|after| newest != Some(*after)) {
                return Err(StoreError::changed_since(order.area, after));
            }
            // The single writer reads the clock, so changes take effect in the order of their times.
            let at = snapshot.moment(position, now());
            let SetFloodState { area, state, by, .. } = order;
            snapshot.apply(position, StateChange { state, at }, by.clone());
            Ok(Written::Visible(FloodChange { area, state, at, by }))
        })
    }
}

/// The logs of all areas at one moment, to be read outside the threads that serve requests.
struct Logs {
    areas: Arc<AreaSet>,
    snapshot: Arc<Versioned<Snapshot>>,
}

impl Logs {
    /// Returns the logs of the selected areas, by `area_id`.
    fn selected<'a>(&'a self, selector: &'a AreaSelector) -> impl Iterator<Item = (AreaId, &'a AreaLog)> {
        let areas = self.areas.iter().zip(&self.snapshot.value.logs);
        areas.filter(|(area, _)| selector.matches(area)).map(|(area, log)| (area.id, log))
    }
}

/// Passes on the changes until no caller waits for the result any more.
fn checked(changes: impl Iterator<Item = StateChange>, stop: &Stop) -> impl Iterator<Item = StateChange> {
    changes.take_while(|_| stop.check().is_ok())
}

#[async_trait]
impl FloodStore for MemoryStore {
    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        let snapshot = self.floods.snapshots.read();
        Ok(snapshot.of(self.floods.select(&snapshot.value, query)))
    }

    async fn flood_archive(&self, query: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError> {
        let logs = self.floods.logs();
        let query = query.clone();
        read_long(move |stop| {
            let selected = logs.selected(&query.selector);
            let within = selected.map(|(area, log)| (area, checked(log.within(&query.period), stop)));
            let records = archive(within, &query.period);
            stop.check()?;
            Ok(logs.snapshot.of(records))
        })
        .await
    }

    async fn flood_series(&self, query: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let logs = self.floods.logs();
        let query = query.clone();
        read_long(move |stop| {
            // The first hour is counted at its beginning, which may be before the period begins.
            let hours = query.period.whole_hours();
            let selected = logs.selected(&query.selector);
            let points = series(selected.map(|(_, log)| checked(log.within(&hours), stop)), &query.period);
            stop.check()?;
            Ok(logs.snapshot.of(points))
        })
        .await
    }

    async fn flood_log(&self, area: AreaId) -> Result<Vec<FloodChange>, StoreError> {
        let snapshot = self.floods.snapshots.read();
        let position = self.floods.areas.position(area);
        let log = position.and_then(|position| snapshot.value.logs.get(position));
        Ok(log.map(|log| log.changes(area).collect()).unwrap_or_default())
    }

    async fn latest_flood_changes(&self, query: &LogQuery) -> Result<Vec<FloodChange>, StoreError> {
        let LogQuery { area, before, most } = *query;
        let snapshot = self.floods.snapshots.read();
        let position = self.floods.areas.position(area).ok_or_else(|| StoreError::no_area(area))?;
        let log = snapshot.value.logs.get(position);
        Ok(log.map(|log| log.latest(area, before, most as usize).collect()).unwrap_or_default())
    }

    async fn flood_entries(
        &self,
        query: &EntryQuery,
    ) -> Result<Versioned<Vec<(AreaId, Vec<Entry>)>>, StoreError> {
        let logs = self.floods.logs();
        let EntryQuery { area, from, until } = *query;
        read_long(move |stop| {
            let everywhere = AreaSelector::default();
            let selected = logs.selected(&everywhere).filter(|(id, _)| area.is_none_or(|area| area == *id));
            let mut found = Vec::new();
            for (id, log) in selected {
                stop.check()?;
                let entries: Vec<_> = log.entries(from, until).collect();
                if !entries.is_empty() {
                    found.push((id, entries));
                }
            }
            Ok(logs.snapshot.of(found))
        })
        .await
    }

    async fn set_flood_state(&self, order: SetFloodState) -> Result<FloodChange, StoreError> {
        self.floods.set(order, || self.clock.now())
    }
}
