use std::cmp::Reverse;
use std::sync::Arc;

use chrono_tz::Tz;
use serde::Serialize;

use crate::changes::State;
use crate::data::statements::Flood;
use crate::model::{Area, AreaId, AreaSelector, AreaSet, FloodState, Timestamp, place_name, readable};

/// How many rows the page lists unless all are requested.
pub(super) const MOST: usize = 50;

/// The flooded areas as the page lists them: the deepest first, and of these the one that was flooded last.
#[derive(Debug, Default)]
pub(super) struct List {
    areas: Arc<AreaSet>,
    rows: Vec<Flooded>,
    counts: [usize; FloodState::ALL.len()],
    newest: Option<Timestamp>,
    zone: Tz,
}

/// The flooded areas of one state.
#[derive(Debug, Serialize)]
pub(super) struct Group {
    /// The code of the state, as the texts are named.
    state: String,
    areas: Vec<Row>,
}

/// A flooded area.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flooded {
    /// Its position in the set.
    position: usize,
    pub(super) flood: Flood,
    pub(super) last_updated: Timestamp,
}

#[derive(Debug, Serialize)]
struct Row {
    id: AreaId,
    name: String,
    city: String,
    /// The code of the state.
    state: u8,
    since: DisplayTime,
    /// Whether nobody has confirmed the state for so long that no alert is in force.
    faded: bool,
}

/// A time, to the minute, for programs and for people.
#[derive(Debug, Serialize)]
pub(super) struct DisplayTime {
    /// In UTC (RFC 3339).
    at: String,
    /// In the configured time zone.
    pub(super) text: String,
}

impl DisplayTime {
    pub(super) fn new(at: Timestamp, zone: Tz) -> Self {
        let text = at.to_utc().with_timezone(&zone).format("%d-%m-%Y %H:%M %Z").to_string();
        Self { at: at.to_string(), text }
    }
}

impl List {
    /// Lists the flooded areas that are selected.
    pub(super) fn new(state: &State, selector: &AreaSelector, zone: Tz) -> Self {
        let mut list = Self { areas: Arc::clone(state.areas()), zone, ..Self::default() };
        for (position, status) in state.statuses() {
            let Some(current) = status.current() else { continue };
            if !selector.matches(&list.areas[position]) {
                continue;
            }
            let last_updated = current.last_updated;
            list.counts[usize::from(current.state.code()) - 1] += 1;
            list.newest = list.newest.max(Some(last_updated));
            let flood = Flood {
                state: current.state,
                flooded_since: current.flooded_since.unwrap_or(last_updated),
                confirmed: current.confirmed.unwrap_or(last_updated),
            };
            list.rows.push(Flooded { position, flood, last_updated });
        }
        // Positions have the order of identifiers.
        list.rows.sort_by_key(|row| (Reverse(row.flood.state), Reverse(row.flood.flooded_since)));
        list
    }

    /// Returns the rows by state, the deepest first: at most 50, or all.
    pub(super) fn groups(&self, all: bool, now: Timestamp) -> Vec<Group> {
        let shown = &self.rows[..self.shown(all)];
        let by_state = shown.chunk_by(|one, next| one.flood.state == next.flood.state);
        by_state
            .map(|rows| Group {
                state: rows[0].flood.state.code().to_string(),
                areas: rows.iter().map(|row| self.row(row, now)).collect(),
            })
            .collect()
    }

    fn row(&self, Flooded { position, flood, .. }: &Flooded, now: Timestamp) -> Row {
        let area = &self.areas[*position];
        Row {
            id: area.id,
            name: area_name(area),
            city: readable(&area.city_name),
            state: flood.state.code(),
            since: DisplayTime::new(flood.flooded_since, self.zone),
            faded: flood.is_unconfirmed(now),
        }
    }

    fn shown(&self, all: bool) -> usize {
        if all { self.rows.len() } else { self.rows.len().min(MOST) }
    }

    /// Returns how many flooded areas have no row.
    pub(super) fn rest(&self, all: bool) -> usize {
        self.rows.len() - self.shown(all)
    }

    /// Returns the flooded area at a position in the set.
    pub(super) fn find(&self, position: usize) -> Option<&Flooded> {
        self.rows.iter().find(|row| row.position == position)
    }

    /// Returns how many areas have a state.
    pub(super) fn count(&self, state: FloodState) -> usize {
        self.counts[usize::from(state.code()) - 1]
    }

    pub(super) fn total(&self) -> usize {
        self.rows.len()
    }

    /// Returns when the newest of the states was set.
    pub(super) fn newest(&self) -> Option<Timestamp> {
        self.newest
    }
}

/// Returns the name of an area with that of the larger area that it lies in.
pub(super) fn area_name(area: &Area) -> String {
    place_name(&area.parent_name, &area.name, &area.id.to_string())
}
