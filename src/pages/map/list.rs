use std::collections::BTreeMap;

use chrono_tz::Tz;
use serde::de::Error;
use serde::{Deserialize, Serialize};

use crate::model::{FloodState, Timestamp};

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
}

/// The flooded areas as the page lists them.
#[derive(Debug, Default)]
pub(super) struct List {
    groups: Vec<Group>,
    counts: [usize; FloodState::ALL.len()],
    newest: Option<Moment>,
}

/// The flooded areas that are parts of one larger area, the worst first.
#[derive(Debug, Serialize)]
pub(super) struct Group {
    name: String,
    areas: Vec<Flooded>,
}

#[derive(Debug, Serialize)]
struct Flooded {
    id: String,
    name: String,
    /// The code of the state, as the texts are named.
    state: String,
    /// When the state was set, in the configured time zone.
    since: String,
}

/// A time, to the minute, for programs and for people.
#[derive(Debug, Serialize)]
pub(super) struct Moment {
    /// In UTC (RFC 3339).
    at: String,
    /// In the configured time zone.
    text: String,
}

impl Moment {
    pub(super) fn of(at: Timestamp, zone: Tz) -> Self {
        let utc = at.to_utc();
        let text = utc.with_timezone(&zone).format("%d-%m-%Y %H:%M %Z").to_string();
        Self { at: utc.format("%Y-%m-%dT%H:%MZ").to_string(), text }
    }
}

impl List {
    /// Lists the flooded areas of a response to `/floods` in `TopoJSON`, by the names of the larger areas.
    ///
    /// # Errors
    ///
    /// If the response is another document.
    pub(super) fn of(floods: &[u8], zone: Tz) -> serde_json::Result<Self> {
        let Response { result } = serde_json::from_slice(floods)?;
        let mut groups: BTreeMap<String, Vec<Flooded>> = BTreeMap::new();
        let mut counts = [0; FloodState::ALL.len()];
        let mut newest = None;
        for Geometry { properties: area } in result.objects.output.geometries {
            let (Some(state), Some(since)) = (area.state, area.last_updated) else { continue };
            let since = Timestamp::parse(&since).map_err(serde_json::Error::custom)?;
            let index = usize::from(state).wrapping_sub(1);
            *counts.get_mut(index).ok_or_else(|| serde_json::Error::custom("no such state"))? += 1;
            newest = newest.max(Some(since));
            let names = [&area.parent_name, &area.city_name];
            let names: Vec<_> =
                names.into_iter().filter(|name| !name.is_empty()).map(String::as_str).collect();
            let name = if area.area_name.is_empty() { area.area_id.clone() } else { area.area_name };
            groups.entry(names.join(", ")).or_default().push(Flooded {
                id: area.area_id,
                name,
                state: state.to_string(),
                since: Moment::of(since, zone).text,
            });
        }
        let sorted = |(name, mut areas): (String, Vec<Flooded>)| {
            areas.sort_by(|a, b| (&b.state, &a.name).cmp(&(&a.state, &b.name)));
            Group { name, areas }
        };
        Ok(Self {
            groups: groups.into_iter().map(sorted).collect(),
            counts,
            newest: newest.map(|at| Moment::of(at, zone)),
        })
    }

    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns how many areas have a state.
    pub(super) fn count(&self, state: FloodState) -> usize {
        self.counts[usize::from(state.code()) - 1]
    }

    pub(super) fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Returns when the newest of the states was set.
    pub(super) fn newest(&self) -> Option<&Moment> {
        self.newest.as_ref()
    }
}
