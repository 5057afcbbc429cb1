use std::sync::Arc;
use std::time::Duration;

use geo::{Area as _, Coord, Distance, Euclidean, LineString, MultiPolygon, Polygon, unary_union};
use proptest::prelude::*;
use serde_json::json;
use siaga::folder::{Dataset, FolderRules};
use siaga::formats::alerts::{Atom, Notices, Options, Rss};
use siaga::formats::{Format, cap};
use siaga::internals::AlertsPage;
use siaga::model::alerts::{Issuer, Status, entries, messages};
use siaga::model::{AlertLayer, Area, AreaSet, FloodState, Layer, StateChange, Timestamp};
use siaga_conformance::fixture;
use siaga_conformance::format_suite;
use siaga_conformance::formats::encoded;

use crate::xml::texts;

mod atom {
    use super::*;
    format_suite!(Atom::new(notices()));
}

mod rss {
    use super::*;
    format_suite!(Rss::new(notices()));
}

mod page {
    use super::*;
    format_suite!(AlertsPage::new(notices()));
}

fn notices() -> Notices {
    Notices::new(Options::default(), cap::Options::default())
}

/// Returns a document with a single message.
fn document(options: Options, layer: AlertLayer) -> String {
    let format = Atom::new(Notices::new(options, cap::Options::default())).entry_format().unwrap();
    String::from_utf8(encoded(&*format, &Layer::Alerts(layer))).unwrap()
}

/// Returns the messages about a flood that rises from one state to another, is confirmed, and ends.
fn chain(area: Area) -> Vec<AlertLayer> {
    let start = fixture::now().saturating_sub(Duration::from_hours(8));
    let at = |minute| start.saturating_add(Duration::from_mins(minute));
    let states = [
        (0, Some(FloodState::Unknown)),
        (30, Some(FloodState::Minor)),
        (60, Some(FloodState::Moderate)),
        (90, Some(FloodState::Severe)),
        (200, Some(FloodState::Severe)),
        (450, None),
    ];
    let log = states.map(|(minute, state)| StateChange { state, at: at(minute) });
    let chain = messages(&entries(log), Timestamp::EPOCH, fixture::now());
    let areas = Arc::new(AreaSet::from(area));
    let issuer = Arc::new(Issuer::new(Some(7), "", Status::Actual));
    let layer =
        |message| AlertLayer::new(Arc::clone(&areas), vec![(0, message)]).issued_by(Arc::clone(&issuer));
    chain.into_iter().map(layer).collect()
}

/// Returns the message at an index of `chain` as a document.
fn written(index: usize, options: Options) -> String {
    document(options, chain(fixture::areas()[2].clone()).remove(index))
}

/// Checks a document against the schema and the rules of the hubs.
fn assert_checked(document: &str, alerts: usize) {
    let report = cap_check::check(document, fixture::now().to_utc()).unwrap();
    assert_eq!((report.alerts, report.errors()), (alerts, 0), "{report}");
}

#[test]
fn every_message_and_every_feed_is_as_the_schema_and_the_hubs_want_it() {
    for area in &fixture::areas() {
        for layer in chain(area.clone()) {
            for layer in [layer.clone(), layer.into_exercise()] {
                assert_checked(&document(Options::default(), layer), 1);
            }
        }
    }
    let all = fixture::alerts();
    let count = all.features().len();
    let (atom, rss) = (Atom::new(notices()), Rss::new(notices()));
    for format in [&atom as &dyn Format, &rss, &*atom.inline().unwrap()] {
        let written = |layer: AlertLayer| String::from_utf8(encoded(format, &Layer::Alerts(layer))).unwrap();
        assert_checked(&written(all.clone()), count);
        assert_checked(&written(AlertLayer::default().at("alerts".to_owned())), 0);
    }
}

#[test]
fn each_message_of_a_flood_and_of_its_exercise_is_written_as_recorded() {
    let mut all = String::new();
    for layer in chain(fixture::areas()[2].clone()) {
        for layer in [layer.clone(), layer.into_exercise()] {
            all += &document(Options::default(), layer);
            all.push('\n');
        }
    }
    assert_eq!(all, include_str!("alerts.xml"));
}

#[test]
fn a_contact_can_be_added_and_an_unknown_depth_have_a_severity() {
    let options =
        |name: &str, value: &str| -> Options { serde_json::from_value(json!({ name: value })).unwrap() };
    assert_eq!(texts(&written(0, options("unknown_as", "Minor")), "severity"), ["Minor"; 2]);
    let contact = options("contact", "+62 21 112");
    contact.check().unwrap();
    assert_eq!(texts(&written(3, contact), "contact"), ["+62 21 112"; 2]);
    assert_eq!(options("contact", " ").check().unwrap_err().0, "contact");
}

proptest! {
    #[test]
    fn no_name_makes_a_text_longer_than_hubs_show(name in "\\PC{0,80}", parent_name in "\\PC{0,80}", index in 0..6_usize) {
        let area = Area { name, parent_name, ..fixture::areas()[2].clone() };
        let document = document(Options::default(), chain(area).remove(index).into_exercise());
        assert_checked(&document, 1);
        let lengths = |name| texts(&document, name).into_iter().map(|text| text.chars().count());
        prop_assert!(lengths("areaDesc").all(|length| (1..50).contains(&length)));
        prop_assert!(lengths("headline").all(|length| (1..=140).contains(&length)));
        prop_assert!(lengths("event").all(|length| (1..35).contains(&length)));
        prop_assert!(document.len() <= 10_000);
    }
}

/// Returns all areas with their polygons as messages contain them.
fn polygons(areas: AreaSet) -> Vec<(Area, MultiPolygon<f64>)> {
    let areas = Arc::new(areas);
    let first = chain(areas.iter().next().unwrap().clone()).remove(0);
    let message = first.features().next().unwrap().message;
    let messages = (0..areas.len()).map(|position| (position, message.clone()));
    let layer = Layer::Alerts(AlertLayer::new(Arc::clone(&areas), messages.collect()));
    let feed = String::from_utf8(encoded(&Atom::new(notices()), &layer)).unwrap();
    let entries = feed.trim_end_matches("</feed>").split("<entry>").skip(1);
    let read = entries.map(|entry| {
        texts(&format!("<entry xmlns:cap=\"\">{entry}"), "cap:polygon")
            .iter()
            .map(|text| ring(text))
            .collect()
    });
    areas.iter().cloned().zip(read).collect()
}

fn ring(text: &str) -> Polygon<f64> {
    let pair = |pair: &str| {
        let (y, x) = pair.split_once(',').unwrap();
        for number in [x, y] {
            assert!(number.split_once('.').is_none_or(|(_, decimals)| decimals.len() <= 5), "{number}");
        }
        Coord { x: x.parse().unwrap(), y: y.parse().unwrap() }
    };
    let ring: LineString<f64> = text.split(' ').map(pair).collect();
    assert!(ring.0.len() >= 4 && ring.is_closed(), "{text}");
    Polygon::new(ring, Vec::new())
}

#[test]
fn polygons_are_within_12_metres_of_the_borders_and_neighbours_still_meet() {
    let demo = Dataset::load("demo", &FolderRules::default(), fixture::now()).unwrap();
    let areas: Vec<_> = demo.places.areas().iter().take(300).cloned().collect();
    let before: usize =
        areas.iter().flat_map(|area| &area.outline).map(|polygon| polygon.exterior().0.len()).sum();
    let found = polygons(AreaSet::new(areas).unwrap());
    let after: usize =
        found.iter().flat_map(|(_, polygons)| polygons).map(|polygon| polygon.exterior().0.len()).sum();
    assert!(after < before, "nothing was simplified: {after} of {before} positions");
    for (area, polygons) in &found {
        for (original, polygon) in area.outline.iter().zip(polygons) {
            for position in original.exterior().points() {
                let metres = 111_320.0 * Euclidean.distance(&position, polygon.exterior());
                assert!(metres < 12.0, "{}: {metres} m", area.id);
            }
        }
    }
    let all: Vec<_> = found.iter().flat_map(|(_, polygons)| polygons.0.clone()).collect();
    let apart: f64 = all.iter().map(geo::Area::unsigned_area).sum();
    let together = unary_union(&all).unsigned_area();
    assert!((apart - together).abs() < 1e-9 * apart, "neighbours overlap: {apart} {together}");
}
