use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::delta::{AreaState, Delta};
use super::{Cursor, GoneReports};
use crate::model::{Area, AreaId, AreaSet, FloodLayer, Standing, Timestamp};
use crate::stores::{FloodQuery, Revision};

/// How many deltas are kept for other clients that ask the same.
const SHARED: usize = 64;

/// The names of resources in a delta, by the place of their revision in a cursor.
const RESOURCES: [(usize, &[&str]); 3] =
    [(1, &["reports"]), (2, &["gauges"]), (3, &["infrastructure", "areas"])];

/// The states of all areas as a server has read them, each with the floods revision at which this server first read it.
#[derive(Debug)]
pub struct State {
    cursor: Cursor,
    /// The earliest floods revision that the state can tell the changes since.
    first: Revision,
    areas: Arc<AreaSet>,
    known: Arc<[Known]>,
    newest: Timestamp,
    gone: GoneReports,
    shared: Mutex<Deltas>,
}

type Deltas = HashMap<(FloodQuery, Option<Cursor>), Arc<Delta>>;

/// What a server knows of an area.
#[derive(Clone, Copy, Debug)]
struct Known {
    standing: Option<Standing>,
    /// When the state was last set or cleared. It tells two clearings apart between which this server did not read the state.
    changed: Option<Timestamp>,
    /// The floods revision at which this server first read this.
    read: Revision,
}

/// What a server has read at one floods revision.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The revision, with those of other resources.
    pub cursor: Cursor,
    /// The states of all areas.
    pub map: &'a FloodLayer,
    /// When areas were last changed: at least those that changed since the last reading.
    pub changes: &'a [(AreaId, Timestamp)],
    /// Whether the changes are of the same revision as the states. If not, they are of a later one, which is read next.
    pub is_exact: bool,
    /// The reports that have gone.
    pub gone: &'a GoneReports,
    /// A time before all later changes, as far as clocks agree.
    pub at: Timestamp,
}

impl State {
    /// Returns the state after the first reading. All clients that have an earlier cursor get the full state.
    #[must_use]
    pub fn new(reading: Reading<'_>) -> Self {
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
            shared: Mutex::default(),
        }
    }

    /// Returns the state after another reading. If areas were added, removed or moved, all clients get the full state.
    #[must_use]
    pub fn next(&self, reading: Reading<'_>) -> Self {
        let Reading { cursor, map, changes, is_exact, gone, .. } = reading;
        if cursor.epoch != self.cursor.epoch || !same_areas(&self.areas, map.areas()) {
            return Self::new(reading);
        }
        let next =
            all(map, changes).into_iter().zip(self.known.iter()).map(|((standing, changed), known)| {
                let changed = changed.or(known.changed);
                let is_same = (standing, changed) == (known.standing, known.changed);
                let read = if is_same { known.read } else { cursor.floods };
                // A change that may be after the states counts again with the next states.
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
            shared: Mutex::default(),
        }
    }

    /// Returns the same states with a cursor that differs in other resources only.
    #[must_use]
    pub fn with(&self, cursor: Cursor, gone: GoneReports) -> Self {
        let (areas, known) = (Arc::clone(&self.areas), Arc::clone(&self.known));
        Self { cursor, first: self.first, areas, known, newest: self.newest, gone, shared: Mutex::default() }
    }

    /// Returns the areas.
    #[must_use]
    pub fn areas(&self) -> &Arc<AreaSet> {
        &self.areas
    }

    /// Returns the reports that have gone.
    #[must_use]
    pub fn gone(&self) -> &GoneReports {
        &self.gone
    }

    /// Returns how far the server has read.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns the time of the newest change that was read, or a later time before the next one.
    #[must_use]
    pub fn newest(&self) -> Timestamp {
        self.newest
    }

    /// Returns what changed since a cursor: the full state without one, for one of another epoch, and for one that is older
    /// than what the server knows.
    ///
    /// The cursor of the delta is not before `since`, so a client that has read from a server that is ahead loses nothing.
    /// Concurrent clients that ask the same share the delta. Costs O(areas).
    #[must_use]
    pub fn since(&self, since: Option<Cursor>, query: &FloodQuery) -> Arc<Delta> {
        let key = (query.clone(), since);
        if let Some(known) = self.shared().get(&key) {
            return Arc::clone(known);
        }
        let delta = Arc::new(self.delta(since, query));
        let mut shared = self.shared();
        if shared.len() < SHARED {
            shared.insert(key, Arc::clone(&delta));
        }
        delta
    }

    fn shared(&self) -> MutexGuard<'_, Deltas> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn delta(&self, since: Option<Cursor>, query: &FloodQuery) -> Delta {
        let own = self.cursor.revisions();
        let is_known = |of: &Cursor| of.floods >= self.first && self.gone.is_complete_since(of.reports);
        let Some(since) = since.filter(|of| of.epoch == self.cursor.epoch && is_known(of)) else {
            let areas = self.shown(query, Revision(0)).filter(|area| area.state.is_some());
            let changed = RESOURCES.iter().flat_map(|(_, names)| names.iter().copied());
            return Delta {
                cursor: self.cursor,
                full: true,
                areas: areas.collect(),
                changed: changed.collect(),
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
