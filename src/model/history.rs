//! What the log of flood changes says about a period.
//!
//! A state is *in effect* from the moment it was set until the next change of its area; one that was
//! replaced at the very moment it was set never was. Both functions read a log in the order of its
//! times and cost O(entries + hours), whatever the number of areas.

use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use super::{AreaId, FloodChange, FloodState, Period, Standing, Timestamp};

/// The highest state an area had in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ArchiveRecord {
    /// The area.
    pub area_id: AreaId,
    /// The first moment at which that state took effect; possibly before the period.
    pub last_updated: Timestamp,
    /// The highest state in effect at any moment of the period.
    pub max_state: FloodState,
}

/// How many there were at an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SeriesPoint {
    /// The hour.
    pub ts: Timestamp,
    /// The number, shown as a string.
    #[serde(serialize_with = "as_text")]
    pub count: u64,
}

// serde hands over references.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn as_text<S: Serializer>(count: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(count)
}

/// Each area's highest state in effect during the period, by `area_id`; areas without one are absent.
///
/// `log` must ascend in time. Entries after the period are not read.
pub fn archive<'a>(log: impl IntoIterator<Item = &'a FloodChange>, period: &Period) -> Vec<ArchiveRecord> {
    let mut areas: FxHashMap<AreaId, Highest> = FxHashMap::default();
    for change in log.into_iter().take_while(|change| change.at <= period.end()) {
        areas.entry(change.area).or_default().replace(change, period.start());
    }
    let mut records: Vec<ArchiveRecord> = areas
        .into_iter()
        .filter_map(|(area_id, area)| {
            let Standing { state, since } = area.finish()?;
            Some(ArchiveRecord { area_id, last_updated: since, max_state: state })
        })
        .collect();
    records.sort_unstable_by_key(|record| record.area_id);
    records
}

/// The highest state of one area so far, and the one that stands.
#[derive(Default)]
struct Highest {
    highest: Option<Standing>,
    standing: Option<Standing>,
}

impl Highest {
    /// The standing state counts once a later moment of the period has come.
    fn replace(&mut self, change: &FloodChange, start: Timestamp) {
        if self.standing.is_some_and(|standing| change.at > standing.since.max(start)) {
            self.count_standing();
        }
        self.standing = change.standing();
    }

    fn count_standing(&mut self) {
        let Some(standing) = self.standing else { return };
        if self.highest.is_none_or(|highest| standing.state > highest.state) {
            self.highest = Some(standing);
        }
    }

    fn finish(mut self) -> Option<Standing> {
        self.count_standing();
        self.highest
    }
}

/// For each whole hour of the period, how many areas had a state in effect at that instant.
///
/// `log` must ascend in time.
pub fn series<'a>(log: impl IntoIterator<Item = &'a FloodChange>, period: &Period) -> Vec<SeriesPoint> {
    let mut log = log.into_iter().peekable();
    let mut flooded: FxHashMap<AreaId, bool> = FxHashMap::default();
    let mut count = 0;
    period
        .hours()
        .map(|ts| {
            while let Some(change) = log.next_if(|change| change.at <= ts) {
                let now = change.state.is_some();
                let before = flooded.insert(change.area, now).unwrap_or(false);
                count = count + u64::from(now) - u64::from(before);
            }
            SeriesPoint { ts, count }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::{TimeZone, Utc};
    use proptest::prelude::*;

    use super::*;
    use crate::model::Actor;

    /// Minutes after some hour.
    fn minute(minute: i64) -> Timestamp {
        Utc.timestamp_opt(1_700_002_800 + 60 * minute, 0).unwrap().into()
    }

    fn change(area: u64, state: Option<u64>, at: i64) -> FloodChange {
        FloodChange {
            area: area.try_into().unwrap(),
            state: state.map(|code| code.try_into().unwrap()),
            at: minute(at),
            by: Actor { subject: "test".into(), username: None },
        }
    }

    fn period(start: i64, end: i64) -> Period {
        Period::new(minute(start), minute(end), Duration::from_hours(8784)).unwrap()
    }

    /// The state in effect at a moment, by the definition: the last entry up to it.
    fn in_effect(log: &[FloodChange], area: AreaId, at: Timestamp) -> Option<Standing> {
        let last = log.iter().rfind(|change| change.area == area && change.at <= at)?;
        last.state.map(|state| Standing { state, since: last.at })
    }

    #[test]
    fn a_state_set_before_the_period_and_still_standing_counts() {
        let log = [change(1, Some(3), -90), change(1, Some(2), 30)];
        let [record] = archive(&log, &period(0, 60))[..] else { panic!("one area") };
        assert_eq!((record.max_state, record.last_updated), (FloodState::Moderate, minute(-90)));
    }

    #[test]
    fn a_state_cleared_before_the_period_does_not_count() {
        let log = [change(1, Some(3), -90), change(1, None, -1), change(2, Some(4), -5), change(2, None, 0)];
        assert_eq!(archive(&log, &period(0, 60)), []);
    }

    #[test]
    fn both_ends_of_the_period_are_included() {
        let log = [change(1, Some(2), 60), change(2, Some(2), 61)];
        assert_eq!(archive(&log, &period(0, 60)).len(), 1);
        assert_eq!(archive(&log, &period(60, 60)).len(), 1);
    }

    #[test]
    fn the_first_of_several_equal_highest_states_gives_the_time() {
        let log = [change(1, Some(4), 5), change(1, Some(1), 6), change(1, Some(4), 7)];
        assert_eq!(archive(&log, &period(0, 60))[0].last_updated, minute(5));
    }

    #[test]
    fn a_state_replaced_at_the_moment_it_was_set_was_never_in_effect() {
        let log = [change(1, Some(4), 5), change(1, Some(1), 5)];
        assert_eq!(archive(&log, &period(0, 60))[0].max_state, FloodState::Unknown);
    }

    #[test]
    fn a_count_is_shown_as_a_string() {
        let point = SeriesPoint { ts: minute(0), count: 12 };
        let json = serde_json::to_string(&point).unwrap();
        assert_eq!(json, r#"{"ts":"2023-11-14T23:00:00.000Z","count":"12"}"#);
    }

    prop_compose! {
        fn logs()(entries in prop::collection::vec((0..5u64, prop::option::of(1..5u64), -200..400i64), 0..60))
            -> Vec<FloodChange> {
            let mut log: Vec<_> = entries.into_iter().map(|(area, state, at)| change(area, state, at)).collect();
            log.sort_by_key(|change| change.at);
            log
        }
    }

    proptest! {
        #[test]
        fn archive_equals_a_look_at_every_moment(log in logs(), start in -250..300i64, length in 0..300i64) {
            let period = period(start, start + length);
            let naive: Vec<ArchiveRecord> = (0..5)
                .filter_map(|number| {
                    let area_id = AreaId::try_from(number).unwrap();
                    let moments = (start..=start + length).map(minute);
                    let standing = moments.filter_map(|at| in_effect(&log, area_id, at));
                    let highest = standing.reduce(|a, b| if b.state > a.state { b } else { a })?;
                    Some(ArchiveRecord { area_id, last_updated: highest.since, max_state: highest.state })
                })
                .collect();
            prop_assert_eq!(archive(&log, &period), naive);
        }

        #[test]
        fn series_equals_a_count_at_every_hour(log in logs(), start in -250..300i64, length in 0..600i64) {
            let period = period(start, start + length);
            let naive: Vec<SeriesPoint> = (-10..20)
                .map(|hour| minute(60 * hour))
                .filter(|&ts| ts >= period.start().hour() && ts <= period.end())
                .map(|ts| {
                    let areas = (0..5).map(|number| AreaId::try_from(number).unwrap());
                    let count = areas.filter(|&area| in_effect(&log, area, ts).is_some()).count();
                    SeriesPoint { ts, count: count as u64 }
                })
                .collect();
            prop_assert_eq!(series(&log, &period), naive);
        }
    }
}
