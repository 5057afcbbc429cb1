//! A small data set with everything in it that is easily got wrong.

use std::sync::Arc;

use chrono::{TimeZone, Utc};
use geo::{Coord, LineString, MultiPolygon, Polygon};

use crate::datasets::Dataset;
use crate::model::{
    Actor, Area, AreaId, AreaSet, FloodChange, FloodLayer, FloodState, Layer, Standing, Timestamp,
};

/// The time in the fixture, a few hours after the last change of its log.
#[must_use]
pub fn now() -> Timestamp {
    Utc.with_ymd_and_hms(2016, 12, 19, 16, 8, 52).unwrap().into()
}

/// The identifier of a number.
#[must_use]
pub fn id(number: u64) -> AreaId {
    number.try_into().unwrap()
}

/// The state of a code.
#[must_use]
pub fn state(code: u64) -> FloodState {
    code.try_into().unwrap()
}

/// Five areas: 1 and 2 share a border, 5 has a hole, 10 fills the hole and has a second part, 30 is in another city
/// and touches others in corners. Names hold blanks, umlauts and markup, or are empty.
#[must_use]
pub fn areas() -> AreaSet {
    let area = |number, name: &str, parent: &str, outline| Area {
        id: id(number),
        geom_id: format!("317404000400900{number}"),
        name: name.to_owned(),
        parent_name: parent.to_owned(),
        city_name: "JAKARTA BARAT".to_owned(),
        city_code: "jbd".to_owned(),
        region_code: "ID-JK".to_owned(),
        outline: MultiPolygon(outline),
    };
    let elsewhere = Area {
        city_name: "BANDUNG".to_owned(),
        city_code: "bdg".to_owned(),
        region_code: "ID-JB".to_owned(),
        ..area(30, "RW 30", "", vec![Polygon::new(square(3.0, 0.0, 1.0), vec![])])
    };
    AreaSet::new(vec![
        elsewhere,
        area(
            10,
            "",
            "PULAU",
            vec![Polygon::new(square(1.0, 2.0, 1.0), vec![]), Polygon::new(square(4.0, 1.0, 1.0), vec![])],
        ),
        area(5, "RW 09", "GROGOL", vec![Polygon::new(square(0.0, 1.0, 3.0), vec![square(1.0, 2.0, 1.0)])]),
        area(2, "RW 02 & <Söhne>, \"X\"", "KÖLN, ÉTÉ", vec![Polygon::new(square(1.0, 0.0, 1.0), vec![])]),
        area(1, "RW 01", "GROGOL", vec![Polygon::new(square(0.0, 0.0, 1.0), vec![])]),
    ])
    .unwrap()
}

/// A closed square, counter-clockwise, in hundredths of a degree from 106.8 E, 6.2 S.
fn square(x: f64, y: f64, side: f64) -> LineString<f64> {
    let at = |x: f64, y: f64| Coord { x: 106.8 + x / 100.0, y: -6.2 + y / 100.0 };
    LineString(vec![at(x, y), at(x + side, y), at(x + side, y + side), at(x, y + side), at(x, y)])
}

/// A log of six days before [`now`]: area 5 rose to 4, fell to 2 and stands there; 30 stands at 3 since the
/// beginning; 1 was flooded and cleared.
#[must_use]
pub fn log() -> Vec<FloodChange> {
    let entry = |day, hour, minute, area, code: Option<u64>| FloodChange {
        area: id(area),
        state: code.map(state),
        at: Utc.with_ymd_and_hms(2016, 12, day, hour, minute, 35).unwrap().into(),
        by: Actor { subject: "import".to_owned(), username: Some("bpbd".to_owned()) },
    };
    vec![
        entry(13, 8, 0, 30, Some(3)),
        entry(14, 6, 10, 5, Some(1)),
        entry(14, 7, 30, 1, Some(2)),
        entry(14, 9, 0, 5, Some(4)),
        entry(15, 1, 0, 1, None),
        entry(19, 13, 41, 5, Some(2)),
    ]
}

/// The areas and the log.
#[must_use]
pub fn dataset() -> Dataset {
    Dataset { areas: Arc::new(areas()), flood_log: log(), ..Dataset::default() }
}

/// The flood map of the fixture, with the states given by code; areas not named have none.
#[must_use]
pub fn layer(states: &[(u64, u64)]) -> Layer {
    let areas = areas();
    let since = now().before(std::time::Duration::from_hours(1));
    let standing = |area: &Area| {
        let known = states.iter().find(|(number, _)| id(*number) == area.id);
        known.map(|&(_, code)| Standing { state: state(code), since })
    };
    let selected = areas.iter().map(standing).enumerate().collect();
    Layer::Floods(FloodLayer::new(Arc::new(areas), selected))
}

/// A flood map without areas.
#[must_use]
pub fn empty_layer() -> Layer {
    Layer::Floods(FloodLayer::new(Arc::default(), Vec::new()))
}
