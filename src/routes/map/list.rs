use std::collections::BTreeMap;

use chrono_tz::Tz;
use serde::Serialize;

use crate::model::{FloodFeature, FloodLayer, FloodState, Timestamp};

/// The flooded areas as the page lists them.
#[derive(Debug)]
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
    /// Lists the areas of a layer that have a state, by the names of the larger areas.
    pub(super) fn of(floods: &FloodLayer, zone: Tz) -> Self {
        let mut groups: BTreeMap<String, Vec<Flooded>> = BTreeMap::new();
        let mut counts = [0; FloodState::ALL.len()];
        let mut newest = None;
        for FloodFeature { area, standing } in floods.features() {
            let Some(standing) = standing else { continue };
            counts[usize::from(standing.state.code()) - 1] += 1;
            newest = newest.max(Some(standing.since));
            let names = [&area.parent_name, &area.city_name];
            let names: Vec<_> =
                names.into_iter().filter(|name| !name.is_empty()).map(String::as_str).collect();
            let name = if area.name.is_empty() { area.id.to_string() } else { area.name.clone() };
            groups.entry(names.join(", ")).or_default().push(Flooded {
                id: area.id.to_string(),
                name,
                state: standing.state.code().to_string(),
                since: Moment::of(standing.since, zone).text,
            });
        }
        let sorted = |(name, mut areas): (String, Vec<Flooded>)| {
            areas.sort_by(|a, b| (&b.state, &a.name).cmp(&(&a.state, &b.name)));
            Group { name, areas }
        };
        Self {
            groups: groups.into_iter().map(sorted).collect(),
            counts,
            newest: newest.map(|at| Moment::of(at, zone)),
        }
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
