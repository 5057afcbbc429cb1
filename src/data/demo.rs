//! The demo: the compiled-in data folder `demo/`, with an imaginary flood in a city in the shape of Jakarta.
//!
//! Names of cities and kelurahan are real, everything else is made up. Reading the demo moves its times to the present.

use crate::data::folder::{self, Dataset, DatasetError, Folder, FolderFile};
use crate::model::Timestamp;

const FILES: [(FolderFile, &str); 9] = [
    (FolderFile::Areas, include_str!("../../demo/areas.geojson")),
    (FolderFile::Regions, include_str!("../../demo/regions.geojson")),
    (FolderFile::Infrastructure, include_str!("../../demo/infrastructure.geojson")),
    (FolderFile::Basemap, include_str!("../../demo/basemap.geojson")),
    (FolderFile::Gauges, include_str!("../../demo/gauges.geojson")),
    (FolderFile::GaugeReadings, include_str!("../../demo/gauge_readings.csv")),
    (FolderFile::FloodStates, include_str!("../../demo/flood_states.csv")),
    (FolderFile::Reports, include_str!("../../demo/reports.geojson")),
    (FolderFile::Cards, include_str!("../../demo/cards.csv")),
];

/// The time in the files that becomes the present when the demo is read. The files also have reports and readings of the three
/// days after it; stores hide each one until its time has come.
const PRESENT: &str = "2016-01-01T00:00:00Z";

pub(crate) fn folder() -> Folder {
    Folder::built_in("demo", &FILES)
}

/// Returns the data of the demo. At `now`, its flood states, reports and readings are as old as they were at `PRESENT`.
pub(crate) fn dataset(now: Timestamp) -> Result<Dataset, DatasetError> {
    let present = Timestamp::parse(PRESENT).unwrap_or(now);
    let mut demo = folder::dataset(&folder(), present)?;
    let age = now.saturating_duration_since(present);
    for change in &mut demo.flood_log {
        change.at = change.at.saturating_add(age);
        change.received = change.at;
    }
    for report in &mut demo.reports {
        report.content.created_at = report.content.created_at.saturating_add(age);
    }
    for gauge in &mut demo.gauges {
        for reading in &mut gauge.observations {
            reading.observed_at = reading.observed_at.saturating_add(age);
        }
    }
    Ok(demo)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::model::{AreaSelector, Clock, FloodState, ManualClock};
    use crate::stores::memory::MemoryStore;
    use crate::stores::{GaugeQuery, GaugeStore, ReportQuery, ReportStore, Window};

    fn now() -> Timestamp {
        Timestamp::parse("2026-01-02T03:04:05Z").unwrap()
    }

    #[test]
    fn the_demo_has_all_four_states_and_days_of_history() {
        let demo = dataset(now()).unwrap();
        let mut current = HashMap::new();
        for change in &demo.flood_log {
            assert!(change.at <= now());
            current.insert(change.area, change.state);
        }
        for state in FloodState::ALL {
            assert!(current.values().filter(|&&now| now == Some(state)).count() > 5, "{state:?}");
        }
        assert!(demo.flood_log[0].at < now().saturating_sub(Duration::from_hours(96)));
    }

    #[test]
    fn every_disaster_has_recent_reports_and_one_card_is_unused() {
        let demo = dataset(now()).unwrap();
        let last_hour = now().saturating_sub(Duration::from_hours(1))..=now();
        let contents = demo.reports.iter().map(|report| &report.content);
        let recent = contents.filter(|content| last_hour.contains(&content.created_at));
        assert_eq!(recent.map(|content| content.disaster_type).collect::<HashSet<_>>().len(), 7);
        let fresh = demo.cards.iter().filter(|card| card.report.is_none());
        assert_eq!(fresh.map(|card| card.id.as_str()).collect::<Vec<_>>(), ["abcdefg"]);
    }

    #[rocket::async_test]
    async fn the_demo_has_new_data_for_days() {
        let clock = Arc::new(ManualClock::new(now()));
        let store = MemoryStore::new(dataset(now()).unwrap(), Arc::clone(&clock) as Arc<dyn Clock>);
        for hours in [0, 1, 6, 24, 71] {
            clock.set(now().saturating_add(Duration::from_hours(hours)));
            let window = Window::Last(Duration::from_hours(1));
            let selector = AreaSelector::default();
            let query = ReportQuery { selector: selector.clone(), disaster: None, training: false, window };
            let summary = store.report_summary(&query).await.unwrap().value;
            assert_eq!(summary.by_disaster.len(), 6, "after {hours} h");
            let gauges =
                store.gauges(&GaugeQuery { selector, window, with_failed: false }).await.unwrap().value;
            assert!(gauges.0.len() > 5, "after {hours} h");
        }
    }

    #[test]
    fn two_starts_differ_only_in_time() {
        let later = now().saturating_add(Duration::from_secs(9_999));
        let (first, second) = (dataset(now()).unwrap(), dataset(later).unwrap());
        assert!(first.places.areas().iter().eq(second.places.areas().iter()));
        let states =
            [first, second].map(|demo| demo.flood_log.into_iter().map(|change| (change.area, change.state)));
        assert!(states[0].clone().eq(states[1].clone()));
    }
}
