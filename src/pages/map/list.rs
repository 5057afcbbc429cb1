use std::cmp::Reverse;

use chrono_tz::Tz;
use serde::de::Error;
use serde::{Deserialize, Serialize};

use crate::model::{FloodState, Timestamp};
pub(super) use crate::model::{place_name as name_of, readable};
use crate::statements::Flood;

/// The parts of the `TopoJSON` of `/floods` that the page shows.
#[derive(Deserialize)]
struct Response {
    result: Topology,
}

#[derive(Deserialize)]
struct Topology {
    objects: Objects,
}

#[derive(Deserialize)]
struct Objects {
    output: Output,
}

#[derive(Deserialize)]
struct Output {
    geometries: Vec<Geometry>,
}

#[derive(Deserialize)]
struct Geometry {
    properties: Properties,
}

#[derive(Deserialize)]
struct Properties {
    area_id: String,
    area_name: String,
    parent_name: String,
    city_name: String,
    state: Option<u8>,
    last_updated: Option<String>,
    flooded_since: Option<String>,
    confirmed: Option<String>,
}

/// How many rows the page lists unless all are requested.
pub(super) const MOST: usize = 50;

/// The flooded areas as the page lists them: the deepest first, and of these the one that was flooded last.
#[derive(Debug, Default)]
pub(super) struct List {
    rows: Vec<Flooded>,
    counts: [usize; FloodState::ALL.len()],
    newest: Option<Timestamp>,
    zone: Tz,
}

/// The flooded areas of one state.
#[derive(Debug, Serialize)]
pub(super) struct Group<'a> {
    state: &'a str,
    areas: Vec<Row<'a>>,
}

/// A flooded area.
#[derive(Debug)]
pub(super) struct Flooded {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) city: String,
    /// The code of the state, as the texts are named.
    pub(super) state: String,
    pub(super) flood: Flood,
    pub(super) last_updated: Timestamp,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    id: &'a str,
    name: &'a str,
    city: &'a str,
    state: &'a str,
    since: Moment,
    /// Whether nobody has confirmed the state for so long that no alert is in force.
    faded: bool,
}

/// A time, to the minute, for programs and for people.
#[derive(Debug, Serialize)]
pub(super) struct Moment {
    /// In UTC (RFC 3339).
    at: String,
    /// In the configured time zone.
    pub(super) text: String,
}

impl Moment {
    pub(super) fn of(at: Timestamp, zone: Tz) -> Self {
        let text = at.to_utc().with_timezone(&zone).format("%d-%m-%Y %H:%M %Z").to_string();
        Self { at: at.to_string(), text }
    }
}

impl List {
    /// Lists the flooded areas of a response to `/floods` in `TopoJSON`.
    ///
    /// # Errors
    ///
    /// If the response is another document.
    pub(super) fn of(floods: &[u8], zone: Tz) -> serde_json::Result<Self> {
        let Response { result } = serde_json::from_slice(floods)?;
        let mut list = Self { zone, ..Self::default() };
        for Geometry { properties: area } in result.objects.output.geometries {
            let (Some(code), Some(updated)) = (area.state, area.last_updated) else { continue };
            let state = FloodState::try_from(u64::from(code)).map_err(serde_json::Error::custom)?;
            let at = |text: &str| Timestamp::parse(text).map_err(serde_json::Error::custom);
            let last_updated = at(&updated)?;
            let or_updated = |text: Option<String>| text.map_or(Ok(last_updated), |text| at(&text));
            let flooded_since = or_updated(area.flooded_since)?;
            let confirmed = or_updated(area.confirmed)?;
            list.counts[usize::from(code) - 1] += 1;
            list.newest = list.newest.max(Some(last_updated));
            list.rows.push(Flooded {
                name: name_of(&area.parent_name, &area.area_name, &area.area_id),
                id: area.area_id,
                city: readable(&area.city_name),
                state: code.to_string(),
                flood: Flood { state, flooded_since, confirmed },
                last_updated,
            });
        }
        let order = |of: &Flooded| (Reverse(of.flood.state), Reverse(of.flood.flooded_since), of.id.clone());
        list.rows.sort_by_cached_key(order);
        Ok(list)
    }

    /// Returns the rows by state, the deepest first: at most 50, or all.
    pub(super) fn groups(&self, all: bool, now: Timestamp) -> Vec<Group<'_>> {
        let shown = &self.rows[..self.shown(all)];
        let by_state = shown.chunk_by(|one, next| one.state == next.state);
        by_state
            .map(|rows| Group {
                state: &rows[0].state,
                areas: rows.iter().map(|of| self.row(of, now)).collect(),
            })
            .collect()
    }

    fn row<'a>(&self, of: &'a Flooded, now: Timestamp) -> Row<'a> {
        Row {
            id: &of.id,
            name: &of.name,
            city: &of.city,
            state: &of.state,
            since: Moment::of(of.flood.flooded_since, self.zone),
            faded: of.flood.is_unconfirmed(now),
        }
    }

    fn shown(&self, all: bool) -> usize {
        if all { self.rows.len() } else { self.rows.len().min(MOST) }
    }

    /// Returns how many flooded areas have no row.
    pub(super) fn rest(&self, all: bool) -> usize {
        self.rows.len() - self.shown(all)
    }

    /// Returns the flooded area with this identifier.
    pub(super) fn find(&self, id: &str) -> Option<&Flooded> {
        self.rows.iter().find(|of| of.id == id)
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
