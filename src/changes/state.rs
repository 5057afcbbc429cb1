use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rocket::tokio::sync;

use super::delta::{AreaState, Delta};
use super::{Cursor, FullState, RemovedReports};
use crate::model::{Area, AreaSet, CurrentState, FloodLayer, FloodStatus, Timestamp};
use crate::stores::{FloodQuery, Revision};

const MAX_CACHED: usize = 64;

/// The number of remembered earlier cursors. It suffices, because a stream lags at most a few states.
const MAX_RECENT: usize = 64;

/// The index of a revision in a cursor, and the names that a delta has for the resources with this revision.
const RESOURCES: [(usize, &[&str]); 3] =
    [(1, &["reports"]), (2, &["gauges"]), (3, &["infrastructure", "areas"])];

/// The states of all areas, each with the revision of floods at which this server first read it.
#[derive(Debug)]
pub(crate) struct State {
    cursor: Cursor,
    /// The earliest revision of floods for a delta: all changes after it are known.
    oldest: Revision,
    areas: Arc<AreaSet>,
    versions: Arc<[AreaVersion]>,
    last_changed: Option<Timestamp>,
    removed: RemovedReports,
    /// This cursor and the cursors before it, newest last.
    recent: Vec<Cursor>,
    cache: Mutex<StateCache>,
}

#[derive(Debug, Default)]
struct StateCache {
    deltas: HashMap<(FloodQuery, Cursor), Arc<Delta>>,
    full: HashMap<FloodQuery, Arc<sync::Mutex<Weak<FullState>>>>,
    /// Keeps full states alive for later clients, oldest first.
    retained: Vec<Arc<FullState>>,
}

impl StateCache {
    /// Drops the oldest full states until a new state of the size `weight` fits into `room`.
    fn evict(&mut self, weight: u64, room: u64) {
        let mut size: u64 = weight + self.retained.iter().map(|state| state.json.len() as u64).sum::<u64>();
        let mut dropped = 0;
        while size > room && dropped < self.retained.len() {
            size -= self.retained[dropped].json.len() as u64;
            dropped += 1;
        }
        self.retained.drain(..dropped);
    }
}

#[derive(Clone, Copy, Debug)]
struct AreaVersion {
    status: FloodStatus,
    /// The revision of floods at which the status was first read.
    read: Revision,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot<'a> {
    pub(crate) cursor: Cursor,
    pub(crate) layer: &'a FloodLayer,
    pub(crate) removed: &'a RemovedReports,
}

impl State {
    /// Creates the state from the first snapshot. Clients with an earlier cursor get the full state.
    #[must_use]
    pub(crate) fn new(snapshot: Snapshot<'_>) -> Self {
        let Snapshot { cursor, layer, removed } = snapshot;
        let read = cursor.floods;
        let versions: Arc<[_]> = statuses(layer).map(|status| AreaVersion { status, read }).collect();
        Self {
            cursor,
            oldest: read,
            areas: Arc::clone(layer.areas()),
            last_changed: last_change(&versions),
            versions,
            removed: removed.clone(),
            recent: vec![cursor],
            cache: Mutex::default(),
        }
    }

    /// Returns the state after another snapshot. If areas were added, removed or moved, all clients get the full state.
    #[must_use]
    pub(crate) fn next(&self, snapshot: Snapshot<'_>) -> Self {
        let Snapshot { cursor, layer, removed } = snapshot;
        if cursor.epoch != self.cursor.epoch || !same_areas(&self.areas, layer.areas()) {
            return Self::new(snapshot);
        }
        // Compares times too, because a state may have been set and cleared between two snapshots.
        let next = statuses(layer).zip(self.versions.iter()).map(|(status, version)| {
            if status == version.status { *version } else { AreaVersion { status, read: cursor.floods } }
        });
        let versions: Arc<[_]> = next.collect();
        Self {
            cursor,
            oldest: self.oldest,
            areas: Arc::clone(layer.areas()),
            last_changed: last_change(&versions),
            versions,
            removed: removed.clone(),
            recent: self.recent_with(cursor),
            cache: Mutex::default(),
        }
    }

    /// Returns the same flood states with a cursor in which only other resources differ.
    #[must_use]
    pub(crate) fn with_cursor(&self, cursor: Cursor, removed: RemovedReports) -> Self {
        let (areas, versions) = (Arc::clone(&self.areas), Arc::clone(&self.versions));
        let (oldest, last_changed, recent) = (self.oldest, self.last_changed, self.recent_with(cursor));
        Self { cursor, oldest, areas, versions, last_changed, removed, recent, cache: Mutex::default() }
    }

    fn recent_with(&self, cursor: Cursor) -> Vec<Cursor> {
        let earlier = &self.recent[self.recent.len().saturating_sub(MAX_RECENT)..];
        earlier.iter().copied().chain([cursor]).collect()
    }

    #[must_use]
    pub(crate) fn areas(&self) -> &Arc<AreaSet> {
        &self.areas
    }

    pub(crate) fn statuses(&self) -> impl Iterator<Item = (usize, FloodStatus)> {
        self.versions.iter().map(|version| version.status).enumerate()
    }

    /// Returns the dry areas that were flooded before, and the end of the last flood.
    pub(crate) fn ended_floods(&self) -> impl Iterator<Item = (&Area, Timestamp)> {
        let areas = self.areas.iter().zip(self.versions.iter());
        areas.filter_map(|(area, version)| Some((area, version.status.over_since()?)))
    }

    #[must_use]
    pub(crate) fn removed_reports(&self) -> &RemovedReports {
        &self.removed
    }

    #[must_use]
    pub(crate) fn cursor(&self) -> Cursor {
        self.cursor
    }

    #[must_use]
    pub(crate) fn last_changed(&self) -> Option<Timestamp> {
        self.last_changed
    }

    /// Whether a cursor of the same epoch has a later revision: another server has read more, or the database has lost changes.
    #[must_use]
    pub(crate) fn is_behind(&self, cursor: Cursor) -> bool {
        let is_older = |(own, theirs): (&Revision, Revision)| *own < theirs;
        self.cursor.epoch == cursor.epoch
            && self.cursor.revisions().iter().zip(cursor.revisions()).any(is_older)
    }

    /// Returns the cursor if all changes since it are known; `None` if the client needs the full state.
    #[must_use]
    pub(crate) fn valid_cursor(&self, since: Option<Cursor>) -> Option<Cursor> {
        let is_known = |at: &Cursor| at.floods >= self.oldest && self.removed.is_complete_since(at.reports);
        since.filter(|cursor| cursor.epoch == self.cursor.epoch && is_known(cursor))
    }

    #[must_use]
    pub(crate) fn resource_names() -> Vec<&'static str> {
        RESOURCES.iter().flat_map(|(_, names)| names.iter().copied()).collect()
    }

    /// Counts the areas with a state. Costs O(areas).
    #[must_use]
    pub(crate) fn flooded_count(&self) -> usize {
        self.versions.iter().filter(|version| version.status.current().is_some()).count()
    }

    /// Returns the full state as JSON. `encode` creates it once for all clients with the same query; after an error, the next
    /// waiting client tries again. Retains the state for later clients until other states need the space: `weight` estimates its
    /// size in bytes, and all retained states together have at most `room` bytes.
    pub(crate) async fn full_state<E, F>(
        &self,
        query: &FloodQuery,
        weight: u64,
        room: u64,
        encode: impl FnOnce() -> F,
    ) -> Result<Arc<FullState>, E>
    where
        F: Future<Output = Result<Arc<FullState>, E>>,
    {
        let full = {
            let full = &mut self.cache().full;
            match full.get(query) {
                Some(slot) => Arc::clone(slot),
                None if full.len() < MAX_CACHED => Arc::clone(full.entry(query.clone()).or_default()),
                None => Arc::default(),
            }
        };
        let mut full = full.lock().await;
        if let Some(cached) = full.upgrade() {
            return Ok(cached);
        }
        self.cache().evict(weight, room);
        let encoded = encode().await?;
        *full = Arc::downgrade(&encoded);
        self.cache().retained.push(Arc::clone(&encoded));
        Ok(encoded)
    }

    /// Returns the changes since a cursor. Returns the full state if there is no cursor, or it is too old or of another epoch.
    ///
    /// The cursor of the delta is never older than `since`, so a client that comes from a server with newer states misses
    /// nothing. Clients with the same recent cursor share the delta. Costs O(areas).
    #[must_use]
    pub(crate) fn since(&self, since: Option<Cursor>, query: &FloodQuery) -> Arc<Delta> {
        // Caches only deltas of recent cursors, because clients can invent any number of other cursors.
        let Some(recent) = since.filter(|since| self.recent.contains(since)) else {
            return Arc::new(self.delta(since, query));
        };
        let key = (query.clone(), recent);
        if let Some(cached) = self.cache().deltas.get(&key) {
            return Arc::clone(cached);
        }
        let delta = Arc::new(self.delta(since, query));
        let deltas = &mut self.cache().deltas;
        if deltas.len() < MAX_CACHED {
            deltas.insert(key, Arc::clone(&delta));
        }
        delta
    }

    fn cache(&self) -> MutexGuard<'_, StateCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the full state if `since` is not valid, otherwise the changes since then, with a cursor at or after `since`.
    fn delta(&self, since: Option<Cursor>, query: &FloodQuery) -> Delta {
        let revisions = self.cursor.revisions();
        let Some(since) = self.valid_cursor(since) else {
            let areas = self.area_states(query, Revision(0)).filter(|area| area.state.is_some());
            return Delta {
                cursor: self.cursor,
                full: true,
                areas: areas.collect(),
                changed: Self::resource_names(),
                gone_reports: Vec::new(),
            };
        };
        let since_revisions = since.revisions();
        let newer = RESOURCES.iter().filter(|(index, _)| revisions[*index] > since_revisions[*index]);
        let latest = std::array::from_fn(|index| revisions[index].max(since_revisions[index]));
        let first_new = Revision(since.floods.0.saturating_add(1));
        Delta {
            cursor: Cursor::new(self.cursor.epoch, latest),
            full: false,
            areas: self.area_states(query, first_new).collect(),
            changed: newer.flat_map(|(_, names)| names.iter().copied()).collect(),
            gone_reports: self.removed.since(since.reports).collect(),
        }
    }

    /// Returns the selected areas whose state was first read at `from` or later.
    fn area_states<'a>(
        &'a self,
        query: &'a FloodQuery,
        from: Revision,
    ) -> impl Iterator<Item = AreaState> + 'a {
        let areas = self.areas.iter().zip(self.versions.iter());
        let selected =
            areas.filter(move |(area, version)| version.read >= from && query.selector.matches(area));
        selected.map(|(area, AreaVersion { status, .. })| {
            let is_high_enough =
                |current: &CurrentState| query.minimum_state.is_none_or(|minimum| current.state >= minimum);
            let current = status.current().filter(is_high_enough);
            AreaState {
                area_id: area.id,
                state: current.map(|current| current.state),
                last_updated: current.map(|current| current.last_updated),
                flooded_since: current.and_then(|current| current.flooded_since),
                confirmed: current.and_then(|current| current.confirmed),
                over_since: status.over_since(),
            }
        })
    }
}

/// Returns the status of each area of the layer's set, in order. Areas that are not selected count as never flooded.
fn statuses(layer: &FloodLayer) -> impl Iterator<Item = FloodStatus> {
    let mut statuses = vec![FloodStatus::NEVER_FLOODED; layer.areas().len()];
    for (position, status) in layer.selected() {
        statuses[*position] = *status;
    }
    statuses.into_iter()
}

fn last_change(versions: &[AreaVersion]) -> Option<Timestamp> {
    versions.iter().filter_map(|version| version.status.last_changed()).max()
}

/// Whether two sets have the same areas in the same cities and provinces.
fn same_areas(one: &Arc<AreaSet>, other: &Arc<AreaSet>) -> bool {
    let codes = |area: &Area| (area.id, area.city_code.clone(), area.region_code.clone());
    Arc::ptr_eq(one, other) || one.iter().map(codes).eq(other.iter().map(codes))
}
