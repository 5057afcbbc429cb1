//! Areas of a topology as d3 draws them: on a globe, of which a ring that runs the wrong way encloses nearly all.

use std::f64::consts::PI;
use std::fs;
use std::sync::Arc;

use chrono_tz::Tz;
use geo::{Area as _, LineString, MultiPolygon, Polygon};
use siaga::folder::{Dataset, FolderRules};
use siaga::formats::topojson::{Options, Quantization, TopoJson};
use siaga::formats::{EncodeContext, Format};
use siaga::model::{Area, AreaSet, Clock, FloodLayer, FloodStatus, Layer, SystemClock};

use crate::fixture;
use crate::tools::{node, printed};

const GLOBE: &str = include_str!("globe.mjs");

/// Holds the area of each in the topology against the area it had before.
fn drawn_as_they_are(areas: &Arc<AreaSet>, format: &TopoJson) {
    let selected = (0..areas.len()).map(|position| (position, FloodStatus::NEVER_FLOODED)).collect();
    let layer = Layer::Floods(FloodLayer::new(Arc::clone(areas), selected));
    let context = EncodeContext::new(fixture::now(), Tz::UTC, "http://127.0.0.1:8000/v1");
    let mut text = Vec::new();
    format.encode(&layer, &context, &mut text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("globe.mjs"), GLOBE).unwrap();
    fs::write(folder.path().join("topology.json"), text).unwrap();
    let drawn = printed("globe.mjs", node(folder.path()).args(["globe.mjs", "topology.json"]));
    let drawn: Vec<f64> = serde_json::from_str(&drawn).unwrap();
    assert_eq!(drawn.len(), areas.len());
    for (drawn, area) in drawn.into_iter().zip(areas.iter()) {
        // The map is so small that a degree has one size all over it.
        let expected = area.outline.unsigned_area() * 1_f64.to_radians().powi(2) * 6.2_f64.to_radians().cos();
        assert!(drawn / (4.0 * PI) < 1e-6, "{}: {drawn} of {expected} steradians", area.id);
        assert!((drawn - expected).abs() < 0.02 * expected + 1e-10, "{}: {drawn}, not {expected}", area.id);
    }
}

/// Tries areas on a grid and without one.
fn drawn_in_each_way(areas: &Arc<AreaSet>) {
    for format in [TopoJson::default(), TopoJson::new(Options { quantization: Quantization::NONE })] {
        drawn_as_they_are(areas, &format);
    }
}

#[test]
fn d3_draws_the_areas_of_the_demo_as_large_as_they_are() {
    drawn_in_each_way(
        Dataset::load("demo", &FolderRules::default(), SystemClock.now()).unwrap().places.areas(),
    );
}

#[test]
fn d3_draws_holes_what_fills_them_and_slivers_as_large_as_they_are() {
    let ring = |x: f64, y: f64, corners: &[(f64, f64)]| -> LineString<f64> {
        let corner = |(east, north): &(f64, f64)| (106.8 + x + east, -6.2 + y + north);
        corners.iter().chain(corners.first()).map(corner).collect()
    };
    let outlines = (0..36).flat_map(|cell| {
        let [x, y] = [f64::from(cell % 6) * 0.01, f64::from(cell / 6) * 0.01];
        let outer = ring(x, y, &[(0.0, 0.0), (0.01, 0.0), (0.01, 0.01), (0.004, 0.01), (0.0, 0.01)]);
        // Which way it runs is not to matter.
        let mut hole = ring(x, y, &[(0.002, 0.002), (0.008, 0.003), (0.007, 0.008), (0.003, 0.007)]);
        if cell % 2 == 0 {
            hole.0.reverse();
        }
        let island = ring(x, y, &[(0.005, 0.005), (0.006, 0.005), (0.006, 0.006)]);
        let flat = ring(x, y + 0.1, &[(0.0, 0.0), (0.003, 0.0), (0.009, 0.0)]);
        let flat_too = ring(x, y + 0.2, &[(0.0, 0.0), (0.003, 0.0009), (0.009, 0.0027)]);
        [
            vec![Polygon::new(outer, vec![hole.clone()]), Polygon::new(island.clone(), vec![])],
            vec![Polygon::new(hole, vec![island])],
            vec![Polygon::new(flat, vec![])],
            vec![Polygon::new(flat_too, vec![])],
        ]
    });
    let template = fixture::areas()[0].clone();
    let area = |(number, polygons)| Area {
        id: fixture::id(number),
        outline: MultiPolygon(polygons),
        ..template.clone()
    };
    drawn_in_each_way(&Arc::new(AreaSet::new((1..).zip(outlines).map(area).collect()).unwrap()));
}
