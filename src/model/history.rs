//! Queries on the log of flood changes in a period.
//!
//! A state is *in effect* from the time of its change until the next change of its area; never if both changes have the same
//! time. Each area has a log, ordered by time. A query needs only the change in effect at the start of the period, and the
//! changes up to its end.

use serde::{Serialize, Serializer};

use super::{AreaId, FloodState, Period, StateChange, Timestamp};

/// The highest state of an area in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ArchiveRecord {
    /// The area.
    pub area_id: AreaId,
    /// When [`max_state`](Self::max_state) first took effect, possibly before the period.
    pub last_updated: Timestamp,
    /// The highest state in effect during the period.
    pub max_state: FloodState,
}

/// The number of flooded areas at an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SeriesPoint {
    /// The hour.
    pub ts: Timestamp,
    /// The number, serialized as a string.
    #[serde(serialize_with = "as_text")]
    pub count: u64,
}

// `serialize_with` passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn as_text<S: Serializer>(count: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(count)
}

/// Returns each area's highest state in effect during the period, in the order of the logs, without dry areas. Costs O(entries).
pub fn archive<L>(logs: impl IntoIterator<Item = (AreaId, L)>, period: &Period) -> Vec<ArchiveRecord>
where
    L: IntoIterator<Item = StateChange>,
{
    let record = |(area_id, log)| {
        let InEffect { state, from } = highest(log, period)?;
        Some(ArchiveRecord { area_id, last_updated: from, max_state: state })
    };
    logs.into_iter().filter_map(record).collect()
}

/// Returns the highest state in effect during the period. The log of the area must be in the order of time.
fn highest(log: impl IntoIterator<Item = StateChange>, period: &Period) -> Option<InEffect> {
    let mut area = HighestStateFinder::default();
    for change in log.into_iter().take_while(|change| change.at <= period.end()) {
        area.replace(change, period.start());
    }
    area.finish()
}

#[derive(Clone, Copy)]
struct InEffect {
    state: FloodState,
    from: Timestamp,
}

impl InEffect {
    fn from_change(change: StateChange) -> Option<Self> {
        change.state.map(|state| Self { state, from: change.at })
    }
}

#[derive(Default)]
struct HighestStateFinder {
    highest: Option<InEffect>,
    current: Option<InEffect>,
}

impl HighestStateFinder {
    /// Sets the current state. Counts the previous state if it was in effect during the period.
    fn replace(&mut self, change: StateChange, start: Timestamp) {
        if self.current.is_some_and(|current| change.at > current.from.max(start)) {
            self.count_current();
        }
        self.current = InEffect::from_change(change);
    }

    fn count_current(&mut self) {
        let Some(current) = self.current else { return };
        if self.highest.is_none_or(|highest| current.state > highest.state) {
            self.highest = Some(current);
        }
    }

    fn finish(mut self) -> Option<InEffect> {
        self.count_current();
        self.highest
    }
}

/// Returns the number of areas with a state in effect at each whole hour of the period. Costs O(entries · log hours + hours).
pub fn series<L>(logs: impl IntoIterator<Item = L>, period: &Period) -> Vec<SeriesPoint>
where
    L: IntoIterator<Item = StateChange>,
{
    let mut steps: Vec<Step> = period.hours().map(|hour| Step { hour, began: 0, ended: 0 }).collect();
    for log in logs {
        let mut flooded = false;
        for change in log {
            let first = steps.partition_point(|step| step.hour < change.at);
            let Some(step) = steps.get_mut(first) else { break };
            match (flooded, change.state.is_some()) {
                (false, true) => step.began += 1,
                (true, false) => step.ended += 1,
                _ => {}
            }
            flooded = change.state.is_some();
        }
    }
    let mut count = 0;
    let points = steps.into_iter().map(|Step { hour, began, ended }| {
        count = count + began - ended;
        SeriesPoint { ts: hour, count }
    });
    points.collect()
}

/// The number of areas that were flooded (`began`) or became dry (`ended`) after the previous step's hour, up to this hour.
struct Step {
    hour: Timestamp,
    began: u64,
    ended: u64,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::{TimeZone, Utc};
    use proptest::prelude::*;

    use super::*;

    fn minute(minute: i64) -> Timestamp {
        Utc.timestamp_opt(1_700_002_800 + 60 * minute, 0).unwrap().into()
    }

    type Entry = (AreaId, StateChange);

    fn change(area: u64, state: Option<u64>, at: i64) -> Entry {
        let state = state.map(|code| code.try_into().unwrap());
        (area.try_into().unwrap(), StateChange { state, at: minute(at) })
    }

    fn areas() -> impl Iterator<Item = AreaId> {
        (0..5).map(|number| AreaId::try_from(number).unwrap())
    }

    fn area_changes(log: &[Entry], area: AreaId) -> impl Iterator<Item = StateChange> {
        log.iter().filter(move |entry| entry.0 == area).map(|entry| entry.1)
    }

    fn archived(log: &[Entry], period: &Period) -> Vec<ArchiveRecord> {
        archive(areas().map(|area| (area, area_changes(log, area))), period)
    }

    fn period(start: i64, end: i64) -> Period {
        Period::new(minute(start), minute(end), Duration::from_hours(8784)).unwrap()
    }

    /// Returns the state in effect by its definition: the state of the last entry up to a time.
    fn in_effect(log: &[Entry], area: AreaId, at: Timestamp) -> Option<InEffect> {
        area_changes(log, area).filter(|change| change.at <= at).last().and_then(InEffect::from_change)
    }

    prop_compose! {
        fn logs()(entries in prop::collection::vec((0..5u64, prop::option::of(1..5u64), -200..400i64), 0..60))
            -> Vec<Entry> {
            let mut log: Vec<_> = entries.into_iter().map(|(area, state, at)| change(area, state, at)).collect();
            log.sort_by_key(|entry| entry.1.at);
            log
        }
    }

    proptest! {
        #[test]
        fn archive_equals_a_look_at_every_moment(log in logs(), start in -250..300i64, length in 0..300i64) {
            let period = period(start, start + length);
            let naive: Vec<ArchiveRecord> = areas()
                .filter_map(|area_id| {
                    let moments = (start..=start + length).map(minute);
                    let standing = moments.filter_map(|at| in_effect(&log, area_id, at));
                    let highest = standing.reduce(|a, b| if b.state > a.state { b } else { a })?;
                    Some(ArchiveRecord { area_id, last_updated: highest.from, max_state: highest.state })
                })
                .collect();
            prop_assert_eq!(archived(&log, &period), naive);
        }

        #[test]
        fn series_equals_a_count_at_every_hour(log in logs(), start in -250..300i64, length in 0..600i64) {
            let period = period(start, start + length);
            let naive: Vec<SeriesPoint> = (-10..20)
                .map(|hour| minute(60 * hour))
                .filter(|&ts| ts >= period.start().floor_to_hour() && ts <= period.end())
                .map(|ts| {
                    let count = areas().filter(|&area| in_effect(&log, area, ts).is_some()).count();
                    SeriesPoint { ts, count: count as u64 }
                })
                .collect();
            prop_assert_eq!(series(areas().map(|area| area_changes(&log, area)), &period), naive);
        }
    }
}
