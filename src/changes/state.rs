use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rocket::tokio::sync;

use super::delta::{AreaState, Delta};
use super::{Cursor, FullState, RemovedReports};
use crate::model::{Area, AreaSet, CurrentState, FloodLayer, FloodStatus, Timestamp};
use crate::stores::{FloodQuery, Revision};

/// How many deltas and full states are kept for other clients that ask the same.
const SHARED: usize = 64;

/// How many cursors of earlier states are known. A stream is at most a few states behind.
const RECENT: usize = 64;

/// The names of resources in a delta, by the place of their revision in a cursor.
const RESOURCES: [(usize, &[&str]); 3] =
    [(1, &["reports"]), (2, &["gauges"]), (3, &["infrastructure", "areas"])];

/// The states of all areas as a server has read them, each with the floods revision at which this server first read it.
#[derive(Debug)]
pub(crate) struct State {
    cursor: Cursor,
    /// The earliest floods revision that the state can tell the changes since.
    first: Revision,
    areas: Arc<AreaSet>,
    known: Arc<[AreaVersion]>,
    /// The latest time of a change.
    newest: Option<Timestamp>,
    gone: RemovedReports,
    /// The cursor, and those of the states before, newest last.
    recent: Vec<Cursor>,
    shared: Mutex<Shared>,
}

/// What clients share.
#[derive(Debug, Default)]
struct Shared {
    deltas: HashMap<(FloodQuery, Cursor), Arc<Delta>>,
    full: HashMap<FloodQuery, Arc<sync::Mutex<Weak<FullState>>>>,
    /// Full states for later clients, oldest first.
    kept: Vec<Arc<FullState>>,
}

impl Shared {
    /// Drops the oldest full states until another one fits.
    fn make_room(&mut self, weight: u64, room: u64) {
        let mut size: u64 = weight + self.kept.iter().map(|kept| kept.json.len() as u64).sum::<u64>();
        let mut dropped = 0;
        while size > room && dropped < self.kept.len() {
            size -= self.kept[dropped].json.len() as u64;
            dropped += 1;
        }
        self.kept.drain(..dropped);
    }
}

/// What a server knows of an area.
#[derive(Clone, Copy, Debug)]
struct AreaVersion {
    status: FloodStatus,
    /// The floods revision at which this server first read this.
    read: Revision,
}

/// What a server has read at one floods revision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// The revision, with those of other resources.
    pub(crate) cursor: Cursor,
    /// The states of all areas.
    pub(crate) map: &'a FloodLayer,
    /// The reports that have gone.
    pub(crate) gone: &'a RemovedReports,
}

impl State {
    /// Returns the state after the first reading. All clients that have an earlier cursor get the full state.
    #[must_use]
    pub(crate) fn new(reading: Reading<'_>) -> Self {
        let Reading { cursor, map, gone } = reading;
        let read = cursor.floods;
        let known: Arc<[_]> = all(map).into_iter().map(|status| AreaVersion { status, read }).collect();
        Self {
            cursor,
            first: read,
            areas: Arc::clone(map.areas()),
            newest: newest(&known),
            known,
            gone: gone.clone(),
            recent: vec![cursor],
            shared: Mutex::default(),
        }
    }

    /// Returns the state after another reading. If areas were added, removed or moved, all clients get the full state.
    #[must_use]
    pub(crate) fn next(&self, reading: Reading<'_>) -> Self {
        let Reading { cursor, map, gone } = reading;
        if cursor.epoch != self.cursor.epoch || !same_areas(&self.areas, map.areas()) {
            return Self::new(reading);
        }
        // An area that was set and cleared again between two readings has other times.
        let next = all(map).into_iter().zip(self.known.iter()).map(|(status, known)| {
            if status == known.status { *known } else { AreaVersion { status, read: cursor.floods } }
        });
        let known: Arc<[_]> = next.collect();
        Self {
            cursor,
            first: self.first,
            areas: Arc::clone(map.areas()),
            newest: newest(&known),
            known,
            gone: gone.clone(),
            recent: self.recent_and(cursor),
            shared: Mutex::default(),
        }
    }

    /// Returns the same states with a cursor that differs in other resources only.
    #[must_use]
    pub(crate) fn with(&self, cursor: Cursor, gone: RemovedReports) -> Self {
        let (areas, known) = (Arc::clone(&self.areas), Arc::clone(&self.known));
        let (first, newest, recent) = (self.first, self.newest, self.recent_and(cursor));
        Self { cursor, first, areas, known, newest, gone, recent, shared: Mutex::default() }
    }

    fn recent_and(&self, cursor: Cursor) -> Vec<Cursor> {
        let earlier = &self.recent[self.recent.len().saturating_sub(RECENT)..];
        earlier.iter().copied().chain([cursor]).collect()
    }

    /// Returns the areas.
    #[must_use]
    pub(crate) fn areas(&self) -> &Arc<AreaSet> {
        &self.areas
    }

    /// Returns the position of each area in the set, and its status.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = (usize, FloodStatus)> {
        self.known.iter().map(|known| known.status).enumerate()
    }

    /// Returns the dry areas that were flooded before, and since when that is over.
    pub(crate) fn over(&self) -> impl Iterator<Item = (&Area, Timestamp)> {
        let all = self.areas.iter().zip(self.known.iter());
        all.filter_map(|(area, known)| Some((area, known.status.over_since()?)))
    }

    /// Returns the reports that have gone.
    #[must_use]
    pub(crate) fn gone(&self) -> &RemovedReports {
        &self.gone
    }

    /// Returns how far the server has read.
    #[must_use]
    pub(crate) fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns the latest time of a change that was read.
    #[must_use]
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        self.newest
    }

    /// Returns whether a cursor of the same epoch is ahead of these states: another server has read further, or changes were
    /// lost.
    #[must_use]
    pub(crate) fn is_behind(&self, cursor: Cursor) -> bool {
        let behind = |(own, theirs): (&Revision, Revision)| *own < theirs;
        self.cursor.epoch == cursor.epoch
            && self.cursor.revisions().iter().zip(cursor.revisions()).any(behind)
    }

    /// Returns a cursor since which this server knows what changed; `None` if the client needs the full state.
    #[must_use]
    pub(crate) fn known(&self, since: Option<Cursor>) -> Option<Cursor> {
        let is_known = |of: &Cursor| of.floods >= self.first && self.gone.is_complete_since(of.reports);
        since.filter(|of| of.epoch == self.cursor.epoch && is_known(of))
    }

    /// Returns the names of the resources that a client with a full state requests again.
    #[must_use]
    pub(crate) fn everything() -> Vec<&'static str> {
        RESOURCES.iter().flat_map(|(_, names)| names.iter().copied()).collect()
    }

    /// Returns how many areas have a state. Costs O(areas).
    #[must_use]
    pub(crate) fn flooded(&self) -> usize {
        self.known.iter().filter(|known| known.status.current().is_some()).count()
    }

    /// Returns the full state as JSON, which `encode` makes once for all clients that ask the same. It stays for later clients
    /// until others need its place: `weight` is an estimate of its bytes, and all that stay have at most `room`.
    ///
    /// # Errors
    ///
    /// Those of `encode`; then the next client that waits tries again.
    pub(crate) async fn full<E, F>(
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
            let full = &mut self.shared().full;
            match full.get(query) {
                Some(known) => Arc::clone(known),
                None if full.len() < SHARED => Arc::clone(full.entry(query.clone()).or_default()),
                None => Arc::default(),
            }
        };
        let mut full = full.lock().await;
        if let Some(known) = full.upgrade() {
            return Ok(known);
        }
        self.shared().make_room(weight, room);
        let encoded = encode().await?;
        *full = Arc::downgrade(&encoded);
        self.shared().kept.push(Arc::clone(&encoded));
        Ok(encoded)
    }

    /// Returns what changed since a cursor: the full state without one, for one of another epoch, and for one that is older
    /// than what the server knows.
    ///
    /// The cursor of the delta is not before `since`, so a client that has read from a server that is ahead loses nothing.
    /// Concurrent clients that follow the changes share the delta; a cursor that this server has not given out lately shares
    /// none. Costs O(areas).
    #[must_use]
    pub(crate) fn since(&self, since: Option<Cursor>, query: &FloodQuery) -> Arc<Delta> {
        // Clients can make up any number of other cursors.
        let Some(recent) = since.filter(|since| self.recent.contains(since)) else {
            return Arc::new(self.delta(since, query));
        };
        let key = (query.clone(), recent);
        if let Some(known) = self.shared().deltas.get(&key) {
            return Arc::clone(known);
        }
        let delta = Arc::new(self.delta(since, query));
        let deltas = &mut self.shared().deltas;
        if deltas.len() < SHARED {
            deltas.insert(key, Arc::clone(&delta));
        }
        delta
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn delta(&self, since: Option<Cursor>, query: &FloodQuery) -> Delta {
        let own = self.cursor.revisions();
        let Some(since) = self.known(since) else {
            let areas = self.shown(query, Revision(0)).filter(|area| area.state.is_some());
            return Delta {
                cursor: self.cursor,
                full: true,
                areas: areas.collect(),
                changed: Self::everything(),
                gone_reports: Vec::new(),
            };
        };
        let theirs = since.revisions();
        let grown = RESOURCES.iter().filter(|(index, _)| own[*index] > theirs[*index]);
        let latest = std::array::from_fn(|index| own[index].max(theirs[index]));
        let after = Revision(since.floods.0.saturating_add(1));
        Delta {
            cursor: Cursor::new(self.cursor.epoch, latest),
            full: false,
            areas: self.shown(query, after).collect(),
            changed: grown.flat_map(|(_, names)| names.iter().copied()).collect(),
            gone_reports: self.gone.since(since.reports).collect(),
        }
    }

    /// Returns the selected areas whose state was first read at a revision or later.
    fn shown<'a>(&'a self, query: &'a FloodQuery, from: Revision) -> impl Iterator<Item = AreaState> + 'a {
        let all = self.areas.iter().zip(self.known.iter());
        let selected = all.filter(move |(area, known)| known.read >= from && query.selector.matches(area));
        selected.map(|(area, AreaVersion { status, .. })| {
            let high_enough = |of: &CurrentState| query.minimum_state.is_none_or(|least| of.state >= least);
            let current = status.current().filter(high_enough);
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

/// Returns the status of each area of the set.
fn all(map: &FloodLayer) -> Vec<FloodStatus> {
    let mut all = vec![FloodStatus::NEVER_FLOODED; map.areas().len()];
    for (position, status) in map.selected() {
        all[*position] = *status;
    }
    all
}

fn newest(known: &[AreaVersion]) -> Option<Timestamp> {
    known.iter().filter_map(|known| known.status.last_changed()).max()
}

/// Returns whether two sets have the same areas in the same cities and provinces.
fn same_areas(one: &Arc<AreaSet>, other: &Arc<AreaSet>) -> bool {
    let place = |area: &Area| (area.id, area.city_code.clone(), area.region_code.clone());
    Arc::ptr_eq(one, other) || one.iter().map(place).eq(other.iter().map(place))
}
