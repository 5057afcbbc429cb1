//! The generated data set: a city in the shape of Jakarta during a flood.
//!
//! The areas are the same at every startup; the times of the flood are relative to startup. Neighbours share their
//! borders vertex by vertex, as in a surveyed map. Names of cities and kelurahan are real, everything else is made up.

mod flood;
mod gauges;
mod infrastructure;
mod mesh;
mod names;
mod noise;
mod reports;

use std::sync::Arc;
use std::time::Duration;

use geo::orient::{Direction, Orient};
use geo::{LineString, MultiPolygon, Polygon};

use self::mesh::Cell;
use self::names::{CITIES, City};
use crate::folder::Dataset;
use crate::model::{Area, AreaId, AreaSet, Places, Region, Timestamp};

/// For how long after startup new reports and readings appear: stores hide what is dated in the future.
const LIVE: Duration = Duration::from_hours(3 * 24);

/// Returns the demo as it is at `now`.
pub(crate) fn dataset(now: Timestamp) -> Dataset {
    let places = Places::new(Arc::new(areas()), vec![Arc::new(region())], Vec::new());
    let flood_log = flood::log(places.areas(), now);
    let reports = reports::reports(places.areas(), &flood_log, places.locator(), now);
    let infrastructure = infrastructure::infrastructure(places.locator());
    Dataset {
        places: places.with_infrastructure(infrastructure),
        gauges: gauges::gauges(now),
        cards: reports::cards(&reports),
        reports,
        flood_log,
        ..Dataset::default()
    }
}

fn region() -> Region {
    Region {
        code: "ID-JK".to_owned(),
        name: "DKI Jakarta".to_owned(),
        outline: MultiPolygon(vec![mesh::outline()]).orient(Direction::Default),
    }
}

fn areas() -> AreaSet {
    let cells = mesh::cells();
    let mut areas = Vec::with_capacity(cells.len());
    for city in &CITIES {
        let of_city: Vec<Cell> =
            cells.iter().copied().filter(|cell| names::city_at(cell.centre()) == city).collect();
        for (number, (kelurahan, block)) in city.kelurahan.iter().zip(blocks(of_city, city)).enumerate() {
            for (rw, cell) in (1..).zip(block) {
                areas.extend(area(areas.len() + 1, city, (number, kelurahan), rw, cell));
            }
        }
    }
    // Identifiers are numbers in sequence, so none occurs twice.
    AreaSet::new(areas).unwrap_or_default()
}

/// Cuts a city into one compact block for each of its kelurahan: strips of rows, which are cut along their length.
fn blocks(mut cells: Vec<Cell>, city: &City) -> Vec<Vec<Cell>> {
    const ROWS: usize = 3;
    cells.sort_by_key(|cell| (cell.row / ROWS, cell.column, cell.row));
    let count = city.kelurahan.len();
    (0..count)
        .map(|block| cells[block * cells.len() / count..(block + 1) * cells.len() / count].to_vec())
        .collect()
}

fn area(
    number: usize,
    city: &City,
    (kelurahan, parent_name): (usize, &str),
    rw: usize,
    cell: Cell,
) -> Option<Area> {
    Some(Area {
        id: AreaId::try_from(u64::try_from(number).ok()?).ok()?,
        geom_id: format!("{}{:03}{:03}{rw:03}000", city.code, 10 * (1 + kelurahan / 6), 1 + kelurahan % 6),
        name: format!("RW {rw:02}"),
        parent_name: parent_name.to_owned(),
        city_name: city.name.to_owned(),
        city_code: "jbd".to_owned(),
        region_code: "ID-JK".to_owned(),
        attributes: None,
        outline: MultiPolygon(vec![Polygon::new(LineString(cell.ring()), Vec::new())]),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use chrono::{TimeZone, Utc};
    use geo::{Area as _, Coord};

    use super::*;
    use crate::model::{AreaSelector, Clock, FloodState, ManualClock};
    use crate::stores::memory::MemoryStore;
    use crate::stores::{GaugeQuery, GaugeStore, ReportQuery, ReportStore, Window};

    fn now() -> Timestamp {
        Utc.with_ymd_and_hms(2026, 1, 2, 3, 4, 5).unwrap().into()
    }

    #[test]
    fn there_are_about_2700_areas_with_names_like_jakartas() {
        let areas = areas();
        assert!((2_600..=2_800).contains(&areas.len()), "{}", areas.len());
        let names: HashSet<_> = areas.iter().map(|area| (&area.parent_name, &area.name)).collect();
        assert_eq!(names.len(), areas.len(), "an area is known by its name and its kelurahan's");
        let cities: HashSet<_> = areas.iter().map(|area| &area.city_name).collect();
        assert_eq!(cities.len(), 5);
        let geom_ids: HashSet<_> = areas.iter().map(|area| &area.geom_id).collect();
        assert_eq!(geom_ids.len(), areas.len());
    }

    #[test]
    fn neighbours_share_their_borders_vertex_by_vertex() {
        let areas = areas();
        let mut uses: HashMap<[u64; 4], usize> = HashMap::new();
        let bits = |coord: Coord<f64>| [coord.x.to_bits(), coord.y.to_bits()];
        for line in areas.iter().flat_map(|area| area.outline.0[0].exterior().lines()) {
            let mut ends = [bits(line.start), bits(line.end)];
            ends.sort_unstable();
            *uses.entry([ends[0][0], ends[0][1], ends[1][0], ends[1][1]]).or_default() += 1;
        }
        assert!(uses.values().all(|&count| count <= 2));
        let shared = uses.values().filter(|&&count| count == 2).count();
        assert!(shared * 10 > uses.len() * 9, "{shared} of {}", uses.len());
    }

    #[test]
    fn rings_are_closed_and_counter_clockwise() {
        for area in &areas() {
            let polygon = &area.outline.0[0];
            assert!(polygon.exterior().is_closed() && polygon.signed_area() > 0.0, "{}", area.id);
        }
    }

    #[test]
    fn a_flood_with_all_four_states_is_under_way_after_days_of_history() {
        let demo = dataset(now());
        let mut current = HashMap::new();
        for pair in demo.flood_log.windows(2) {
            assert!(pair[0].at <= pair[1].at);
        }
        for change in &demo.flood_log {
            assert!(change.at <= now());
            current.insert(change.area, change.state);
        }
        for state in FloodState::ALL {
            assert!(current.values().filter(|&&now| now == Some(state)).count() > 5, "{state:?}");
        }
        let flooded = current.values().flatten().count();
        assert!((100..600).contains(&flooded), "{flooded}");
        let first = demo.flood_log[0].at;
        assert!(first < now().before(std::time::Duration::from_hours(96)));
    }

    #[test]
    fn every_disaster_was_reported_in_the_last_hour_and_every_card_has_its_report() {
        let demo = dataset(now());
        let hour_ago = now().before(std::time::Duration::from_hours(1));
        let recent: HashSet<_> = demo
            .reports
            .iter()
            .filter(|report| (hour_ago..=now()).contains(&report.content.created_at))
            .map(|report| report.content.disaster_type)
            .collect();
        assert_eq!(recent.len(), 7, "{recent:?}");
        let fresh: Vec<_> = demo.cards.iter().filter(|card| card.report.is_none()).collect();
        assert_eq!(fresh.len(), 1);
        assert_eq!(fresh[0].id.as_str(), "abcdefg");
        for card in demo.cards.iter().filter(|card| card.report.is_some()) {
            let report = demo.reports.iter().find(|report| Some(report.key) == card.report).unwrap();
            assert_eq!(report.content.url.as_deref(), Some(card.id.as_str()));
        }
    }

    #[test]
    fn gauges_are_live_and_infrastructure_is_of_every_kind() {
        let demo = dataset(now());
        assert!(demo.gauges.len() > 5);
        for gauge in &demo.gauges {
            let last = gauge.observations.iter().rfind(|reading| reading.observed_at <= now()).unwrap();
            assert!(last.observed_at > now().before(std::time::Duration::from_mins(11)));
            assert!(gauge.observations.windows(2).all(|pair| pair[0].observed_at < pair[1].observed_at));
        }
        let kinds: HashSet<_> = demo.places.infrastructure().iter().map(|of| of.kind).collect();
        assert_eq!(kinds.len(), 3);
        assert_eq!(demo.places.regions()[0].code, "ID-JK");
    }

    #[rocket::async_test]
    async fn the_demo_stays_live_for_days() {
        let clock = Arc::new(ManualClock::new(now()));
        let store = MemoryStore::new(dataset(now()), Arc::clone(&clock) as Arc<dyn Clock>);
        for hours in [0, 1, 6, 24, 71] {
            clock.set(now().after(Duration::from_hours(hours)));
            let window = Window::Last(Duration::from_hours(1));
            let everywhere = AreaSelector::default();
            let query = ReportQuery { selector: everywhere.clone(), disaster: None, training: false, window };
            let summary = store.report_summary(&query).await.unwrap().value;
            assert_eq!(summary.by_disaster.len(), 6, "after {hours} h");
            let gauges = store.gauges(&GaugeQuery { selector: everywhere, window }).await.unwrap().value;
            assert!(gauges.0.len() > 5, "after {hours} h");
        }
    }

    #[test]
    fn two_starts_differ_in_time_only() {
        let later = now().after(std::time::Duration::from_secs(999));
        let (one, other) = (dataset(now()), dataset(later));
        assert!(one.places.areas().iter().eq(other.places.areas().iter()));
        let states = |demo: &Dataset| {
            demo.flood_log.iter().map(|change| (change.area, change.state)).collect::<Vec<_>>()
        };
        assert_eq!(states(&one), states(&other));
    }
}
