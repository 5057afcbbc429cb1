use std::cmp::Reverse;
use std::sync::Arc;

use chrono_tz::Tz;
use serde::Serialize;

use crate::changes::State;
use crate::data::statements::Flood;
use crate::model::{AreaId, AreaSelector, AreaSet, FloodState, Timestamp, readable};

/// The maximum number of rows, unless the request asks for all.
pub(super) const MAX_ROWS: usize = 50;

/// The flooded areas of the page, sorted: deepest flood first, then most recently flooded first.
#[derive(Debug, Default)]
pub(super) struct FloodList {
    areas: Arc<AreaSet>,
    rows: Vec<FloodedArea>,
    counts: [usize; FloodState::ALL.len()],
    newest: Option<Timestamp>,
    zone: Tz,
}

#[derive(Debug, Serialize)]
pub(super) struct StateGroup {
    /// The code of the state, which is the key of its text.
    state: String,
    areas: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FloodedArea {
    pub(super) position: usize,
    pub(super) flood: Flood,
    pub(super) last_updated: Timestamp,
}

#[derive(Debug, Serialize)]
struct Row {
    id: AreaId,
    name: String,
    city: String,
    state: u8,
    since: DisplayTime,
    /// Whether the last confirmation is so old that no alert is in force.
    faded: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct DisplayTime {
    at: String,
    pub(super) text: String,
}

impl DisplayTime {
    pub(super) fn new(at: Timestamp, zone: Tz) -> Self {
        let text = at.to_utc().with_timezone(&zone).format("%d-%m-%Y %H:%M %Z").to_string();
        Self { at: at.to_string(), text }
    }
}

/// Returns the flooded areas, in the order of their identifiers.
pub(super) fn flooded_areas(state: &State) -> impl Iterator<Item = FloodedArea> {
    state.statuses().filter_map(|(position, status)| {
        let current = status.current()?;
        let last_updated = current.last_updated;
        let flood = Flood {
            state: current.state,
            flooded_since: current.flooded_since.unwrap_or(last_updated),
            confirmed: current.confirmed.unwrap_or(last_updated),
        };
        Some(FloodedArea { position, flood, last_updated })
    })
}

impl FloodList {
    /// Sorts the areas: the deepest flood first, and among equal states the most recently flooded area first.
    pub(super) fn new(state: &State, selector: &AreaSelector, zone: Tz) -> Self {
        let mut list = Self { areas: Arc::clone(state.areas()), zone, ..Self::default() };
        for row in flooded_areas(state) {
            if selector.matches(&list.areas[row.position]) {
                list.counts[usize::from(row.flood.state.code()) - 1] += 1;
                list.newest = list.newest.max(Some(row.last_updated));
                list.rows.push(row);
            }
        }
        // The sort is stable: rows that compare as equal stay in the order of identifiers.
        list.rows.sort_by_key(|row| (Reverse(row.flood.state), Reverse(row.flood.flooded_since)));
        list
    }

    /// Returns the rows grouped by state, deepest first.
    pub(super) fn groups(&self, all: bool, now: Timestamp) -> Vec<StateGroup> {
        let listed = &self.rows[..self.row_count(all)];
        let by_state = listed.chunk_by(|one, next| one.flood.state == next.flood.state);
        by_state
            .map(|rows| StateGroup {
                state: rows[0].flood.state.code().to_string(),
                areas: rows.iter().map(|row| self.row(row, now)).collect(),
            })
            .collect()
    }

    fn row(&self, FloodedArea { position, flood, .. }: &FloodedArea, now: Timestamp) -> Row {
        let area = &self.areas[*position];
        Row {
            id: area.id,
            name: area.display_name(),
            city: readable(&area.city_name),
            state: flood.state.code(),
            since: DisplayTime::new(flood.flooded_since, self.zone),
            faded: flood.is_unconfirmed(now),
        }
    }

    fn row_count(&self, all: bool) -> usize {
        if all { self.rows.len() } else { self.rows.len().min(MAX_ROWS) }
    }

    pub(super) fn hidden_count(&self, all: bool) -> usize {
        self.rows.len() - self.row_count(all)
    }

    pub(super) fn find(&self, position: usize) -> Option<&FloodedArea> {
        self.rows.iter().find(|row| row.position == position)
    }

    pub(super) fn count(&self, state: FloodState) -> usize {
        self.counts[usize::from(state.code()) - 1]
    }

    pub(super) fn unconfirmed_count(&self, now: Timestamp) -> usize {
        self.rows.iter().filter(|row| row.flood.is_unconfirmed(now)).count()
    }

    pub(super) fn total(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn newest(&self) -> Option<Timestamp> {
        self.newest
    }
}
