use std::collections::{BTreeMap, BTreeSet};
use std::sync;

use geo::{
    AffineOps, AffineTransform, BoundingRect, Coord, GeometryCollection, LineString, MultiPolygon, Rect,
    coord,
};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use siaga::formats::Format;
use siaga::formats::geojson::GeoJson;
use siaga::formats::topojson::{Options, Quantization, TopoJson};
use siaga::model::topology::{Grid, Topology};
use siaga::model::{Area, AreaSet, FloodLayer, FloodStatus, Geometry, Layer};
use siaga_conformance::fixture;
use siaga_conformance::format_suite;
use siaga_conformance::formats::{context, encoded};

use super::topology::meshes;

/// The arcs of each ring of a polygon.
type Rings = Vec<Vec<i64>>;

format_suite!(TopoJson::default());

mod exact {
    use super::*;

    format_suite!(super::exact());
}

fn exact() -> TopoJson {
    TopoJson::new(Options { quantization: Quantization::NONE })
}

fn read(format: &dyn Format, layer: &Layer) -> Value {
    serde_json::from_slice(&encoded(format, layer)).unwrap()
}

/// The grid that the format chooses for these geometries.
fn grid_of(geometries: &[Geometry<'_>], quantization: Quantization) -> Grid {
    Topology::new(geometries, quantization.fineness(geometries)).grid().unwrap().clone()
}

fn point(x: f64, y: f64) -> Geometry<'static> {
    Geometry::Point(Coord { x, y })
}

#[test]
fn a_grid_has_small_cells_and_ten_thousand_lines_and_no_more_lines_than_that_takes() {
    let wide = LineString::from(vec![(95.0, -11.0), (141.0, 6.0)]);
    let narrow = LineString::from(vec![(106.8, -6.2), (106.9, -6.1)]);
    let long = LineString::from(vec![(106.8, -11.0), (106.9, 6.0)]);
    let cases = [
        (vec![point(106.8, -6.2)], [1e-6, 1e-6]),
        (vec![Geometry::LineString(&wide)], [5e-5, 5e-5]),
        (vec![Geometry::LineString(&narrow)], [0.1 / 9_999.0, 0.1 / 9_999.0]),
        (vec![Geometry::LineString(&long)], [0.1 / 9_999.0, 5e-5]),
        (vec![point(95.0, -11.0), point(141.0, 6.0)], [1e-6, 1e-6]),
        (vec![Geometry::LineString(&wide), point(120.0, 0.0)], [1e-6, 1e-6]),
        (vec![point(106.8, -6.2), point(106.801, -6.2)], [0.001 / 9_999.0, 1e-6]),
    ];
    for (geometries, expected) in cases {
        let scale = grid_of(&geometries, Quantization::default()).transform().unwrap().scale;
        for (found, expected) in scale.into_iter().zip(expected) {
            let shrunk = expected - found;
            assert!((0.0..1e-4 * expected).contains(&(shrunk + 1e-9 * expected)), "{scale:?} {geometries:?}");
            assert!(expected > 1e-6 || found <= 1e-6, "{scale:?}");
        }
    }
    let fine = grid_of(&[Geometry::LineString(&narrow)], 1_000_000.try_into().unwrap());
    assert!(fine.transform().unwrap().scale[0] <= 1.001e-7, "as many lines as configured");
}

#[test]
fn without_a_grid_positions_are_exact_and_in_degrees() {
    for layer in fixture::layers() {
        let (topology, collection) = (read(&exact(), &layer), read(&GeoJson::default(), &layer));
        assert_eq!(topology.get("transform"), None);
        assert!(topology["bbox"].is_array());
        let arcs = topology["arcs"].as_array().unwrap();
        let geometries = topology["objects"]["output"]["geometries"].as_array().unwrap();
        let features = collection["features"].as_array().unwrap();
        assert_eq!(geometries.len(), features.len());
        for (geometry, feature) in geometries.iter().zip(features) {
            let found = match geometry["type"].as_str() {
                Some("Point") => positions(&geometry["coordinates"]),
                _ => arc_numbers(&geometry["arcs"])
                    .into_iter()
                    .flat_map(|number| positions(&arcs[number]))
                    .collect(),
            };
            assert_eq!(found, positions(&feature["geometry"]["coordinates"]));
        }
    }
}

fn positions(coordinates: &Value) -> BTreeSet<String> {
    match coordinates.as_array().unwrap().as_slice() {
        position @ [Value::Number(_), ..] => {
            BTreeSet::from([format!("{:?}", position.iter().map(Value::as_f64).collect::<Vec<_>>())])
        }
        parts => parts.iter().flat_map(positions).collect(),
    }
}

/// The numbers of all arcs in a geometry, in order, without their direction.
fn arc_numbers(arcs: &Value) -> Vec<usize> {
    match arcs {
        Value::Array(parts) => parts.iter().flat_map(arc_numbers).collect(),
        number => {
            let number = number.as_i64().unwrap();
            vec![usize::try_from(number.max(!number)).unwrap()]
        }
    }
}

#[test]
fn an_empty_layer_has_the_bbox_of_all_areas_or_none_and_a_transform_if_it_has_a_grid() {
    let bounds = [106.8, -6.2, 106.85, -6.16];
    for (format, bounds, bbox, has_transform) in
        [(TopoJson::default(), None, [0.0; 4], true), (exact(), Some(bounds), bounds, false)]
    {
        let mut context = context();
        context.bounds = bounds;
        let mut out = Vec::new();
        format.encode(&fixture::empty_layer(), &context, &mut out).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(<[f64; 4]>::deserialize(&document["bbox"]).unwrap(), bbox);
        assert_eq!(document.get("transform").is_some(), has_transform);
    }
}

#[test]
fn a_document_has_the_members_of_the_interface() {
    let document = read(&TopoJson::default(), &fixture::layer(&[(5, 2)]));
    assert_eq!(document["bbox"], json!([106.8, -6.2, 106.85, -6.16]));
    assert_eq!(document["transform"]["translate"], json!([106.8, -6.2]));
    let geometries = document["objects"]["output"]["geometries"].as_array().unwrap();
    let types: Vec<_> = geometries.iter().map(|geometry| geometry["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["Polygon", "Polygon", "Polygon", "MultiPolygon", "Polygon"]);
    assert_eq!(geometries[2]["properties"]["state"], 2);
    assert_eq!(geometries[2]["arcs"].as_array().unwrap().len(), 2, "an outer ring and a hole");
    for arc in document["arcs"].as_array().unwrap() {
        let steps = arc.as_array().unwrap();
        assert!(steps.len() >= 2);
        assert!(steps.iter().flat_map(|step| step.as_array().unwrap()).all(Value::is_i64));
    }
}

/// A closed ring of positions in degrees.
pub(crate) type Ring = Vec<[f64; 2]>;

/// The rings of each polygon of each surface of a document.
pub(crate) fn surfaces(document: &Value) -> Vec<Vec<Vec<Ring>>> {
    let transform = document.get("transform").map(|transform| {
        ["scale", "translate"].map(|name| <[f64; 2]>::deserialize(&transform[name]).unwrap())
    });
    let mut arcs = Vec::<Ring>::deserialize(&document["arcs"]).unwrap();
    if let Some([scale, translate]) = transform {
        for arc in &mut arcs {
            let mut at = [0.0; 2];
            for position in arc {
                at = [at[0] + position[0], at[1] + position[1]];
                *position = [0, 1].map(|axis| at[axis] * scale[axis] + translate[axis]);
            }
        }
    }
    let ring = |uses: &Vec<i64>| {
        let mut ring = Ring::new();
        for &index in uses {
            let mut arc = arcs[usize::try_from(index.max(!index)).unwrap()].clone();
            if index < 0 {
                arc.reverse();
            }
            // Arcs share the position at which they meet.
            ring.extend(&arc[usize::from(!ring.is_empty())..]);
        }
        ring
    };
    let geometries = document["objects"]["output"]["geometries"].as_array().unwrap();
    let polygons = geometries.iter().map(|geometry| match geometry["type"].as_str() {
        Some("Polygon") => vec![Rings::deserialize(&geometry["arcs"]).unwrap()],
        _ => Vec::deserialize(&geometry["arcs"]).unwrap(),
    });
    polygons.map(|polygons| polygons.iter().map(|rings| rings.iter().map(ring).collect()).collect()).collect()
}

/// The rings of each area of a document, by identifier.
fn decoded(document: &Value) -> BTreeMap<String, Vec<Ring>> {
    let geometries = document["objects"]["output"]["geometries"].as_array().unwrap();
    let ids =
        geometries.iter().map(|geometry| geometry["properties"]["area_id"].as_str().unwrap().to_owned());
    ids.zip(surfaces(document)).map(|(id, polygons)| (id, polygons.concat())).collect()
}

/// The layer of the selected areas of the fixture, without states.
fn selection(chosen: impl Fn(&Area) -> bool) -> Layer {
    let areas = fixture::areas();
    let positions = areas.iter().enumerate().filter(|(_, area)| chosen(area)).map(|(position, _)| position);
    floods(&sync::Arc::new(fixture::areas()), positions)
}

/// The layer of the areas at these positions, without states.
fn floods(areas: &sync::Arc<AreaSet>, positions: impl Iterator<Item = usize>) -> Layer {
    let selected = positions.map(|position| (position, FloodStatus::NEVER_FLOODED)).collect();
    Layer::Floods(FloodLayer::new(sync::Arc::clone(areas), selected))
}

proptest! {
    #[test]
    fn a_selection_has_the_grid_and_the_shapes_of_its_city_or_of_all_areas_and_the_arcs_it_uses(chosen in prop::collection::vec(any::<bool>(), 5)) {
        let areas = fixture::areas();
        let chosen = |area: &Area| chosen[areas.position(area.id).unwrap()];
        let layer = selection(chosen);
        prop_assume!(!layer.is_empty());
        let mut cities: Vec<_> =
            areas.iter().filter(|area| chosen(area)).map(|area| area.city_code.clone()).collect();
        cities.dedup();
        let format = TopoJson::default();
        let scope = read(&format, &selection(|area| cities.len() > 1 || area.city_code == cities[0]));
        let selected = read(&format, &layer);
        prop_assert_eq!(&selected["transform"], &scope["transform"]);
        let outlines = areas.iter().filter(|area| chosen(area)).map(|area| area.outline.clone());
        let collection: GeometryCollection = outlines.collect();
        let bounds = collection.bounding_rect().unwrap();
        let bbox = json!([bounds.min().x, bounds.min().y, bounds.max().x, bounds.max().y]);
        prop_assert_eq!(&selected["bbox"], &bbox, "around the selection alone");
        let (all, some) = (decoded(&scope), decoded(&selected));
        prop_assert_eq!(some.len(), layer.len());
        for (id, rings) in &some {
            prop_assert_eq!(rings, &all[id]);
        }
        let geometries = selected["objects"]["output"]["geometries"].as_array().unwrap();
        let uses = geometries.iter().flat_map(|geometry| arc_numbers(&geometry["arcs"]));
        let mut seen = 0;
        for number in uses {
            prop_assert!(number <= seen, "numbered in the order of first use");
            seen = seen.max(number + 1);
        }
        prop_assert_eq!(selected["arcs"].as_array().unwrap().len(), seen, "every arc is used");
    }
}

/// Square areas of two cities, side by side. Together they are more than the limit for small selections.
fn large_set() -> AreaSet {
    let tile = |number: u32| {
        let corner = [f64::from(number % 120), f64::from(number / 120)].map(|step| step * 0.01 + 0.001 / 3.0);
        let code = if number % 120 < 60 { "west" } else { "east" };
        Area {
            id: u64::from(number).try_into().unwrap(),
            city_code: code.to_owned(),
            outline: MultiPolygon(vec![Rect::new(corner, corner.map(|from| from + 0.01)).to_polygon()]),
            ..fixture::areas()[0].clone()
        }
    };
    AreaSet::new((0..120 * 100).map(tile).collect()).unwrap()
}

/// The rings of [`decoded`], each starting at its least position, without repeated positions where arcs meet.
fn rings(document: &Value) -> BTreeMap<String, Vec<Ring>> {
    let mut areas = decoded(document);
    for ring in areas.values_mut().flatten() {
        ring.dedup();
        assert_eq!(ring.first(), ring.last(), "closed");
        ring.pop();
        let least = (0..ring.len()).min_by(|&a, &b| ring[a].partial_cmp(&ring[b]).unwrap());
        ring.rotate_left(least.unwrap());
    }
    areas
}

#[test]
fn a_small_selection_of_a_large_set_has_the_same_shapes_before_the_topology_of_the_set_is_ready_as_after() {
    let set = sync::Arc::new(large_set());
    let layer = |step: usize| floods(&set, (0..set.len()).step_by(step).flat_map(|at| [at, at + 1]));
    let format = TopoJson::default();
    let [before, whole, after] = [500, 2, 500].map(|step| read(&format, &layer(step)));
    assert_eq!(before["transform"], whole["transform"]);
    assert_eq!(before["bbox"], after["bbox"]);
    let arcs = |document: &Value| document["arcs"].as_array().unwrap().len();
    assert!(arcs(&before) < arcs(&after), "its own topology is not cut where only other areas meet");
    let (before, after, whole) = (rings(&before), rings(&after), rings(&whole));
    assert_eq!(before, after);
    assert_eq!(before.len(), 48);
    assert!(before.iter().all(|(id, rings)| whole[id] == *rings));
}

#[test]
fn the_quantization_is_configured_within_bounds() {
    for (value, valid) in [
        (json!(1), false),
        (json!(2), true),
        (json!("500"), true),
        (json!(1_000_000_000), true),
        (json!(1_000_000_001), false),
        (json!("none"), true),
        (json!("None"), false),
    ] {
        let options = serde_json::from_value::<Options>(json!({ "quantization": value }));
        assert_eq!(options.is_ok(), valid, "{value}");
    }
    let none = serde_json::from_value::<Options>(json!({ "quantization": "none" })).unwrap();
    assert_eq!(serde_json::to_value(none).unwrap(), json!({ "quantization": "none" }));
}

proptest! {
    #[test]
    fn every_ring_of_a_document_has_four_positions_even_if_it_collapses(features in meshes(), cell in 1e-6..1e-3) {
        let template = fixture::areas()[0].clone();
        let small = AffineTransform::scale(cell, cell, coord! { x: 100.0, y: -7.0 });
        let area = |(number, outline): (u64, &MultiPolygon<f64>)| {
            Area { id: fixture::id(number), outline: outline.affine_transform(&small), ..template.clone() }
        };
        let areas = AreaSet::new((1..).zip(&features).map(area).collect()).unwrap();
        let all = 0..areas.len();
        let document = read(&TopoJson::default(), &floods(&sync::Arc::new(areas), all));
        let mut rings = surfaces(&document).into_iter().flatten().flatten();
        prop_assert!(rings.all(|ring| ring.len() >= 4), "{}", document);
    }
}
