use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rocket::tokio::sync;

use super::delta::{AreaState, Delta};
use super::{Cursor, FullState, GoneReports};
use crate::model::{Area, AreaId, AreaSet, FloodLayer, Standing, Timestamp};
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
    known: Arc<[Known]>,
    newest: Timestamp,
    gone: GoneReports,
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
struct Known {
    standing: Option<Standing>,
    /// When the state was last set or cleared. Needed when an area was set and cleared again between two readings: the state is
    /// the same then, the time is not.
    changed: Option<Timestamp>,
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
    /// When areas were last changed: at least those that changed since the last reading.
    pub(crate) changes: &'a [(AreaId, Timestamp)],
    /// Whether the changes are of the same revision as the states. If not, they are of a later one, which is read next.
    pub(crate) is_exact: bool,
    /// The reports that have gone.
    pub(crate) gone: &'a GoneReports,
    /// A time before all later changes, as far as clocks agree.
    pub(crate) at: Timestamp,
}

impl State {
    /// Returns the state after the first reading. All clients that have an earlier cursor get the full state.
    #[must_use]
    pub(crate) fn new(reading: Reading<'_>) -> Self {
        let Reading { cursor, map, changes, is_exact, gone, at } = reading;
        let read = cursor.floods;
        let known = all(map, changes).into_iter().map(|(standing, changed)| Known {
            standing,
            changed: changed.filter(|_| is_exact),
            read,
        });
        Self {
            cursor,
            first: read,
            areas: Arc::clone(map.areas()),
            known: known.collect(),
            newest: newest(changes).map_or(at, |newest| newest.max(at)),
            gone: gone.clone(),
            recent: vec![cursor],
            shared: Mutex::default(),
        }
    }

    /// Returns the state after another reading. If areas were added, removed or moved, all clients get the full state.
    #[must_use]
    pub(crate) fn next(&self, reading: Reading<'_>) -> Self {
        let Reading { cursor, map, changes, is_exact, gone, .. } = reading;
        if cursor.epoch != self.cursor.epoch || !same_areas(&self.areas, map.areas()) {
            return Self::new(reading);
        }
        let next =
            all(map, changes).into_iter().zip(self.known.iter()).map(|((standing, changed), known)| {
                let changed = changed.or(known.changed);
                let is_same = (standing, changed) == (known.standing, known.changed);
                let read = if is_same { known.read } else { cursor.floods };
                // If the log is newer than the map, keep the old time, so that the next reading notices the change again.
                let is_known = is_exact || standing.is_some_and(|standing| changed == Some(standing.since));
                let changed = if is_known { changed } else { known.changed };
                Known { standing, changed, read }
            });
        Self {
            cursor,
            first: self.first,
            areas: Arc::clone(map.areas()),
            known: next.collect(),
            newest: newest(changes).map_or(self.newest, |newest| newest.max(self.newest)),
            gone: gone.clone(),
            recent: self.recent_and(cursor),
            shared: Mutex::default(),
        }
    }

    /// Returns the same states with a cursor that differs in other resources only.
    #[must_use]
    pub(crate) fn with(&self, cursor: Cursor, gone: GoneReports) -> Self {
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

    /// Returns the reports that have gone.
    #[must_use]
    pub(crate) fn gone(&self) -> &GoneReports {
        &self.gone
    }

    /// Returns how far the server has read.
    #[must_use]
    pub(crate) fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns the time of the newest change that was read, or a later time before the next one.
    #[must_use]
    pub(crate) fn newest(&self) -> Timestamp {
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
        self.known.iter().filter(|known| known.standing.is_some()).count()
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
        selected.map(|(area, Known { standing, .. })| {
            let high_enough = |of: &Standing| query.minimum_state.is_none_or(|least| of.state >= least);
            let standing = standing.filter(high_enough);
            AreaState {
                area_id: area.id,
                state: standing.map(|standing| standing.state),
                last_updated: standing.map(|standing| standing.since),
            }
        })
    }
}

/// Returns the state of each area of the set, and when it was last changed, as far as that is known.
fn all(map: &FloodLayer, changes: &[(AreaId, Timestamp)]) -> Vec<(Option<Standing>, Option<Timestamp>)> {
    let mut all = vec![(None, None); map.areas().len()];
    for (position, standing) in map.selected() {
        all[*position].0 = *standing;
    }
    for (area, changed) in changes {
        if let Some(position) = map.areas().position(*area) {
            all[position].1 = Some(*changed);
        }
    }
    all
}

fn newest(changes: &[(AreaId, Timestamp)]) -> Option<Timestamp> {
    changes.iter().map(|(_, changed)| *changed).max()
}

/// Returns whether two sets have the same areas in the same cities and provinces.
fn same_areas(one: &Arc<AreaSet>, other: &Arc<AreaSet>) -> bool {
    let place = |area: &Area| (area.id, area.city_code.clone(), area.region_code.clone());
    Arc::ptr_eq(one, other) || one.iter().map(place).eq(other.iter().map(place))
}
