use std::collections::{BTreeMap, BTreeSet};
use std::sync;

use geo::{AffineOps, AffineTransform, Coord, LineString, MultiPolygon, Polygon, Rect, coord};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use siaga::formats::Format;
use siaga::formats::geojson::GeoJson;
use siaga::formats::topojson::{Options, Quantization, TopoJson};
use siaga::model::topology::{Fineness, Grid, Node, Shape, Topology};
use siaga::model::{Area, AreaSet, FloodLayer, FloodStatus, Geometry, Layer};
use siaga_conformance::fixture;
use siaga_conformance::format_suite;
use siaga_conformance::formats::{context, encoded};

format_suite!(TopoJson::default());

mod exact {
    use super::*;

    format_suite!(super::exact());
}

/// The format without a grid.
fn exact() -> TopoJson {
    TopoJson::new(Options { quantization: Quantization::NONE })
}

/// A grid of so many lines along each side, whatever the size of its cells.
fn coarse(lines: u32) -> Fineness {
    Fineness::Even { lines, cell: f64::INFINITY }
}

fn line(positions: &[(i32, i32)]) -> LineString<f64> {
    positions.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).collect()
}

fn polygon(exterior: &[(i32, i32)], holes: &[&[(i32, i32)]]) -> Polygon<f64> {
    Polygon::new(line(exterior), holes.iter().map(|hole| line(hole)).collect())
}

/// The nodes of an arc.
type Arc = Vec<(i32, i32)>;
/// The arcs of each ring of a polygon.
type Rings = Vec<Vec<i64>>;

/// The topology of polygons on a grid of whole numbers from 0 to 9, and the arcs of each ring of each.
fn arcs_of(polygons: &[Polygon<f64>]) -> (Vec<Arc>, Vec<Rings>) {
    let frame = [Geometry::Point(Coord { x: 0.0, y: 0.0 }), Geometry::Point(Coord { x: 9.0, y: 9.0 })];
    let geometries: Vec<_> = polygons.iter().map(Geometry::Polygon).chain(frame).collect();
    let topology = Topology::new(&geometries, coarse(10));
    let arcs = topology.arcs().map(|arc| arc.map(|node| (node.x, node.y)).collect()).collect();
    let uses = topology.shapes().filter_map(|shape| match shape {
        Shape::Polygon(rings) => Some(serde_json::from_value(json!(rings.collect::<Vec<_>>())).unwrap()),
        _ => None,
    });
    let uses = uses.collect();
    (arcs, uses)
}

#[test]
fn a_shared_border_is_one_arc_used_in_both_directions() {
    let (arcs, uses) = arcs_of(&[
        polygon(&[(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)], &[]),
        polygon(&[(1, 0), (2, 0), (2, 1), (1, 1), (1, 0)], &[]),
    ]);
    assert_eq!(
        arcs,
        [vec![(1, 1), (1, 0)], vec![(1, 0), (0, 0), (0, 1), (1, 1)], vec![(1, 1), (2, 1), (2, 0), (1, 0)]],
        "clockwise"
    );
    assert_eq!(uses, [[[0, 1]], [[!0, 2]]]);
}

#[test]
fn a_ring_and_the_hole_it_fills_are_one_arc_wherever_each_begins_and_whichever_way_it_runs() {
    let hole = [(3, 3), (3, 5), (5, 5), (5, 3), (3, 3)];
    let (arcs, uses) = arcs_of(&[
        polygon(&[(0, 0), (8, 0), (8, 8), (0, 8), (0, 0)], &[&hole]),
        polygon(&[(5, 5), (3, 5), (3, 3), (5, 3), (5, 5)], &[]),
        polygon(&[(5, 3), (3, 3), (3, 5), (5, 5), (5, 3)], &[]),
    ]);
    assert_eq!(arcs.len(), 2);
    assert_eq!(uses, [vec![vec![0], vec![1]], vec![vec![!1]], vec![vec![!1]]]);
}

#[test]
fn rings_of_the_same_nodes_in_another_order_are_different_arcs() {
    let (arcs, _) = arcs_of(&[
        polygon(&[(0, 0), (4, 0), (4, 4), (0, 4), (0, 0)], &[]),
        polygon(&[(0, 0), (4, 4), (4, 0), (0, 4), (0, 0)], &[]),
    ]);
    let lengths: usize = arcs.iter().map(|arc| arc.len() - 1).sum();
    assert_eq!(lengths, 6, "two borders are shared and four are not");
}

#[test]
fn areas_that_touch_in_a_corner_share_no_arc() {
    let (arcs, uses) = arcs_of(&[
        polygon(&[(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)], &[]),
        polygon(&[(1, 1), (2, 1), (2, 2), (1, 2), (1, 1)], &[]),
    ]);
    assert_eq!(arcs.len(), 2);
    assert_eq!(uses, [[[0]], [[1]]]);
}

#[test]
fn a_polygon_smaller_than_the_grid_keeps_a_place() {
    let speck = Polygon::new(LineString::from(vec![(4.1, 4.1), (4.2, 4.1), (4.2, 4.2), (4.1, 4.1)]), vec![]);
    let (arcs, uses) = arcs_of(&[speck]);
    assert_eq!(arcs, [vec![(4, 4), (4, 4), (4, 4), (4, 4)]]);
    assert_eq!(uses, [[[0]]]);
}

#[test]
fn a_line_is_cut_where_another_line_leaves_it() {
    let lines = [line(&[(0, 0), (1, 1), (2, 2), (3, 3)]), line(&[(9, 9), (2, 2), (1, 1), (0, 0)])];
    let geometries = lines.each_ref().map(Geometry::LineString);
    let topology = Topology::new(&geometries, coarse(10));
    let uses: Vec<Value> = topology
        .shapes()
        .map(|shape| match shape {
            Shape::LineString(arcs) => json!(arcs),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(uses, [json!([0, 1]), json!([2, !0])]);
    assert_eq!(topology.arcs().len(), 3);
}

/// The grid of these geometries as the format chooses it.
fn grid_of(geometries: &[Geometry<'_>], quantization: Quantization) -> Grid {
    Topology::new(geometries, quantization.fineness(geometries)).grid().unwrap().clone()
}

fn point(x: f64, y: f64) -> Geometry<'static> {
    Geometry::Point(Coord { x, y })
}

#[test]
fn a_single_point_lies_at_0_0_of_a_grid_with_the_largest_cells() {
    let point = [point(106.8, -6.2)];
    let topology = Topology::new(&point, Quantization::default().fineness(&point));
    let grid = topology.grid().unwrap();
    let transform = grid.transform().unwrap();
    assert_eq!((transform.scale, transform.translate), ([1e-6, 1e-6], [106.8, -6.2]));
    assert_eq!(grid.bbox(), [106.8, -6.2, 106.8, -6.2]);
    assert!(matches!(topology.shapes().next(), Some(Shape::Point(Node { x: 0, y: 0 }))));
    assert_eq!(topology.arcs().len(), 0);
}

#[test]
fn a_grid_has_small_cells_and_ten_thousand_lines_and_no_more_lines_than_that_takes() {
    let wide = LineString::from(vec![(95.0, -11.0), (141.0, 6.0)]);
    let narrow = LineString::from(vec![(106.8, -6.2), (106.9, -6.1)]);
    let long = LineString::from(vec![(106.8, -11.0), (106.9, 6.0)]);
    let cases = [
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
        let [topology, collection] = [encoded(&exact(), &layer), encoded(&GeoJson::default(), &layer)]
            .map(|text| serde_json::from_slice::<Value>(&text).unwrap());
        assert_eq!(topology.get("transform"), None);
        assert!(topology["bbox"].is_array());
        let arcs = Vec::<Vec<[f64; 2]>>::deserialize(&topology["arcs"]).unwrap();
        let geometries = topology["objects"]["output"]["geometries"].as_array().unwrap();
        let features = collection["features"].as_array().unwrap();
        assert_eq!(geometries.len(), features.len());
        for (geometry, feature) in geometries.iter().zip(features) {
            let found = match geometry["type"].as_str().unwrap() {
                "Point" => vec![Vec::deserialize(&geometry["coordinates"]).unwrap()],
                _ => along_arcs(&geometry["arcs"], &arcs),
            };
            let set = |positions: Vec<Vec<f64>>| -> BTreeSet<String> {
                positions.iter().map(|position| format!("{position:?}")).collect()
            };
            assert_eq!(set(found), set(positions(&feature["geometry"]["coordinates"])));
        }
    }
}

/// All positions within the coordinates of GeoJSON.
fn positions(coordinates: &Value) -> Vec<Vec<f64>> {
    match coordinates.as_array().unwrap().as_slice() {
        position @ [Value::Number(_), ..] => vec![position.iter().map(|n| n.as_f64().unwrap()).collect()],
        parts => parts.iter().flat_map(positions).collect(),
    }
}

/// All positions along the arcs with these numbers.
fn along_arcs(numbers: &Value, arcs: &[Vec<[f64; 2]>]) -> Vec<Vec<f64>> {
    match numbers {
        Value::Array(parts) => parts.iter().flat_map(|part| along_arcs(part, arcs)).collect(),
        number => {
            let number = number.as_i64().unwrap();
            let arc = &arcs[usize::try_from(number.max(!number)).unwrap()];
            arc.iter().map(|position| position.to_vec()).collect()
        }
    }
}

#[test]
fn an_empty_layer_has_the_bbox_of_all_areas_and_a_transform_that_changes_nothing() {
    let head =
        r#"{"type":"Topology","objects":{"output":{"type":"GeometryCollection","geometries":[]}},"arcs":[]"#;
    let transform = r#","transform":{"scale":[1,1],"translate":[0,0]}"#;
    let written = |format: &TopoJson, bounds| {
        let mut context = context();
        context.bounds = bounds;
        let mut out = Vec::new();
        format.encode(&fixture::empty_layer(), &context, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let bounds = Some([106.8, -6.2, 106.85, -6.16]);
    let grid = TopoJson::default();
    assert_eq!(written(&grid, bounds), format!(r#"{head}{transform},"bbox":[106.8,-6.2,106.85,-6.16]}}"#));
    assert_eq!(written(&grid, None), format!(r#"{head}{transform},"bbox":[0,0,0,0]}}"#));
    assert_eq!(written(&exact(), bounds), format!(r#"{head},"bbox":[106.8,-6.2,106.85,-6.16]}}"#));
}

#[test]
fn a_document_has_the_members_of_the_interface() {
    let document: Value =
        serde_json::from_slice(&encoded(&TopoJson::default(), &fixture::layer(&[(5, 2)]))).unwrap();
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

/// Where the areas of a document are, decoded: the rings of each polygon of each, by identifier.
fn decoded(document: &Value) -> BTreeMap<String, Vec<Vec<[f64; 2]>>> {
    let [scale, translate] =
        ["scale", "translate"].map(|name| <[f64; 2]>::deserialize(&document["transform"][name]).unwrap());
    let arcs = Vec::<Vec<[f64; 2]>>::deserialize(&document["arcs"]).unwrap();
    let arcs: Vec<Vec<[f64; 2]>> = arcs
        .into_iter()
        .map(|arc| {
            let mut at = [0.0; 2];
            let step = |step: [f64; 2]| {
                at = [at[0] + step[0], at[1] + step[1]];
                [0, 1].map(|axis| at[axis] * scale[axis] + translate[axis])
            };
            arc.into_iter().map(step).collect()
        })
        .collect();
    let ring = |uses: &Vec<i64>| {
        let along = |&index: &i64| match usize::try_from(index) {
            Ok(index) => arcs[index].clone(),
            Err(_) => arcs[usize::try_from(!index).unwrap()].iter().rev().copied().collect(),
        };
        uses.iter().flat_map(along).collect()
    };
    let geometries = document["objects"]["output"]["geometries"].as_array().unwrap();
    let rings = |geometry: &Value| {
        let polygons: Vec<Vec<Vec<i64>>> = match geometry["type"].as_str() {
            Some("Polygon") => vec![Vec::deserialize(&geometry["arcs"]).unwrap()],
            _ => Vec::deserialize(&geometry["arcs"]).unwrap(),
        };
        polygons.iter().flatten().map(ring).collect()
    };
    let id = |geometry: &Value| geometry["properties"]["area_id"].as_str().unwrap().to_owned();
    geometries.iter().map(|geometry| (id(geometry), rings(geometry))).collect()
}

fn document(layer: &FloodLayer) -> Value {
    serde_json::from_slice(&encoded(&TopoJson::default(), &Layer::Floods(layer.clone()))).unwrap()
}

/// The layer of those areas of the fixture that `chosen` chooses, with no states.
fn selection(chosen: impl Fn(&Area) -> bool) -> FloodLayer {
    let areas = fixture::areas();
    let selected = areas
        .iter()
        .enumerate()
        .filter(|(_, area)| chosen(area))
        .map(|(position, _)| (position, FloodStatus::NEVER_FLOODED));
    let selected = selected.collect();
    FloodLayer::new(sync::Arc::new(areas), selected)
}

#[test]
fn a_selection_lies_on_the_grid_of_its_city_or_of_all_areas() {
    let of_all = document(&selection(|_| true));
    for city in fixture::areas().iter().map(|area| &area.city_code) {
        let of_city = document(&selection(|area| &area.city_code == city));
        for area in fixture::areas().iter().filter(|area| &area.city_code == city) {
            let alone = document(&selection(|other| other.id == area.id));
            assert_eq!(alone["transform"], of_city["transform"]);
            let id = &area.id.to_string();
            assert_eq!(decoded(&alone)[id].len(), decoded(&of_city)[id].len());
            let [min, max] =
                [|a: f64, b| a.min(b), |a: f64, b| a.max(b)].map(|choose: fn(f64, f64) -> f64| {
                    let positions = area.outline.iter().flat_map(|polygon| &polygon.exterior().0);
                    positions
                        .map(|at| [at.x, at.y])
                        .reduce(|a, b| [choose(a[0], b[0]), choose(a[1], b[1])])
                        .unwrap()
                });
            assert_eq!(alone["bbox"], json!([min[0], min[1], max[0], max[1]]), "around the area alone");
        }
    }
    let cities: Vec<_> = fixture::areas().iter().map(|area| area.city_code.clone()).collect();
    assert_ne!(cities.first(), cities.last());
    let (first, last) = (fixture::areas()[0].id, fixture::areas()[cities.len() - 1].id);
    let across = document(&selection(|area| area.id == first || area.id == last));
    assert_eq!(across["transform"], of_all["transform"]);
}

proptest! {
    #[test]
    fn a_selection_has_the_shapes_of_its_scope_and_the_arcs_it_uses(chosen in prop::collection::vec(any::<bool>(), 5)) {
        let areas = fixture::areas();
        let chosen = |area: &Area| chosen[areas.position(area.id).unwrap()];
        let layer = selection(chosen);
        prop_assume!(layer.features().len() > 0);
        let mut cities: Vec<_> = layer.features().map(|flood| flood.area.city_code.clone()).collect();
        cities.dedup();
        let scope = document(&selection(|area| cities.len() > 1 || area.city_code == cities[0]));
        let selected = document(&layer);
        let (all, some) = (decoded(&scope), decoded(&selected));
        prop_assert_eq!(some.len(), layer.features().len());
        for (id, rings) in &some {
            prop_assert_eq!(rings, &all[id]);
        }
        let mut uses = Vec::new();
        fn numbers(value: &Value, uses: &mut Vec<usize>) {
            match value {
                Value::Array(items) => items.iter().for_each(|item| numbers(item, uses)),
                number => {
                    let number = number.as_i64().unwrap();
                    uses.push(usize::try_from(number.max(!number)).unwrap());
                }
            }
        }
        for geometry in selected["objects"]["output"]["geometries"].as_array().unwrap() {
            numbers(&geometry["arcs"], &mut uses);
        }
        let mut seen = 0;
        for number in uses {
            prop_assert!(number <= seen, "numbered in the order of first use");
            seen = seen.max(number + 1);
        }
        prop_assert_eq!(selected["arcs"].as_array().unwrap().len(), seen, "every arc is used");
    }
}

/// Tiles of two cities, side by side, with more areas than a small selection waits for.
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

/// The rings of [`decoded`], each from its least position, without positions that are repeated where arcs meet.
fn rings(document: &Value) -> BTreeMap<String, Vec<Vec<[f64; 2]>>> {
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
    let layer = |step: usize| {
        let selected = (0..set.len())
            .step_by(step)
            .flat_map(|at| [at, at + 1])
            .map(|at| (at, FloodStatus::NEVER_FLOODED));
        Layer::Floods(FloodLayer::new(sync::Arc::clone(&set), selected.collect()))
    };
    let format = TopoJson::default();
    let read = |layer: &Layer| serde_json::from_slice::<Value>(&encoded(&format, layer)).unwrap();
    let part = layer(500);
    let before = read(&part);
    let whole = read(&layer(2));
    let after = read(&part);
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
        (json!(0), false),
        (json!(1), false),
        (json!(2), true),
        (json!("500"), true),
        (json!(1_000_000_000), true),
        (json!(1_000_000_001), false),
        (json!("none"), true),
        (json!("None"), false),
        (json!(false), false),
    ] {
        let options = serde_json::from_value::<Options>(json!({ "quantization": value }));
        assert_eq!(options.is_ok(), valid, "{value}");
        let Err(error) = options else { continue };
        assert_eq!(error.to_string(), r#"must be a whole number from 2 to 1000000000, or "none""#);
    }
    let none = serde_json::from_value::<Options>(json!({ "quantization": "none" })).unwrap();
    assert_eq!(serde_json::to_value(none).unwrap(), json!({ "quantization": "none" }));
}

/// A mesh of cells with jittered corners, dealt out to features, and a frame around it whose hole is the
/// mesh's outer border. Rings begin anywhere and run either way; with a coarse grid many collapse or touch.
fn meshes() -> impl Strategy<Value = Vec<MultiPolygon<f64>>> {
    (1..6usize, 1..6usize).prop_flat_map(|(columns, rows)| {
        let cells = columns * rows;
        (
            prop::collection::vec((-0.7..0.7f64, -0.7..0.7f64), (columns + 1) * (rows + 1)),
            prop::collection::vec(0..4usize, cells),
            prop::collection::vec((0..40usize, any::<bool>()), cells + 2),
        )
            .prop_map(move |(jitter, owners, turns)| mesh(columns, rows, &jitter, &owners, &turns))
    })
}

fn mesh(
    columns: usize,
    rows: usize,
    jitter: &[(f64, f64)],
    owners: &[usize],
    turns: &[(usize, bool)],
) -> Vec<MultiPolygon<f64>> {
    let corner = |column: usize, row: usize| {
        let (dx, dy) = jitter[row * (columns + 1) + column];
        Coord { x: 100.0 + column as f64 + dx, y: -7.0 + row as f64 + dy }
    };
    let mut features = vec![MultiPolygon(vec![]); 4];
    for row in 0..rows {
        for column in 0..columns {
            let ring = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(x, y)| corner(column + x, row + y));
            let cell = row * columns + column;
            features[owners[cell]].0.push(Polygon::new(turned(&ring, turns[cell]), vec![]));
        }
    }
    let south = (0..columns).map(|column| corner(column, 0));
    let east = (0..rows).map(|row| corner(columns, row));
    let north = (1..=columns).rev().map(|column| corner(column, rows));
    let west = (1..=rows).rev().map(|row| corner(0, row));
    let border: Vec<_> = south.chain(east).chain(north).chain(west).collect();
    let frame = [(98.0, -9.0), (108.0, -9.0), (108.0, 1.0), (98.0, 1.0)].map(|(x, y)| Coord { x, y });
    let (outer, inner) = (turns[turns.len() - 2], turns[turns.len() - 1]);
    features.push(MultiPolygon(vec![Polygon::new(turned(&frame, outer), vec![turned(&border, inner)])]));
    features.retain(|feature| !feature.0.is_empty());
    features
}

/// The ring closed, begun `by` places further on, and backwards if told so.
fn turned(ring: &[Coord<f64>], (by, backwards): (usize, bool)) -> LineString<f64> {
    let mut ring = ring.to_vec();
    let by = by % ring.len();
    ring.rotate_left(by);
    if backwards {
        ring.reverse();
    }
    ring.push(ring[0]);
    LineString(ring)
}

/// A ring's nodes without repetitions, in the direction and from the place that make it least: equal for two rings that
/// differ in these only.
fn canonical(mut nodes: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
    nodes.dedup();
    if nodes.len() > 1 && nodes.first() == nodes.last() {
        nodes.pop();
    }
    let turned = |by: usize| {
        let mut nodes = nodes.clone();
        nodes.rotate_left(by);
        let mut backwards = nodes.clone();
        backwards.reverse();
        [nodes, backwards]
    };
    (0..nodes.len()).flat_map(turned).min().unwrap_or_default()
}

/// The area within a ring in steradians as d3 computes it: negative when the ring runs counter-clockwise.
fn area_on_sphere(ring: &[Coord<f64>]) -> f64 {
    let edge = |pair: &[Coord<f64>]| {
        let half = |latitude: f64| latitude.to_radians() / 2.0 + std::f64::consts::FRAC_PI_4;
        let [from, to] = [half(pair[0].y), half(pair[1].y)];
        let east = (pair[1].x - pair[0].x).to_radians();
        let k = from.sin() * to.sin();
        (k * east.sin()).atan2(from.cos() * to.cos() + k * east.cos())
    };
    2.0 * ring.windows(2).map(edge).sum::<f64>()
}

proptest! {
    #[test]
    fn every_ring_decodes_to_within_half_a_grid_step_and_runs_around_its_inside(features in meshes(), steps in 2..400u32) {
        let geometries: Vec<_> = features.iter().map(Geometry::MultiPolygon).collect();
        let topology = Topology::new(&geometries, coarse(steps));
        let grid = topology.grid().unwrap();
        let arcs: Vec<Vec<(i32, i32)>> =
            topology.arcs().map(|arc| arc.map(|node| (node.x, node.y)).collect()).collect();
        let decoded = topology.shapes().map(|shape| match shape {
            Shape::MultiPolygon(polygons) => polygons,
            other => panic!("{other:?}"),
        });
        for (shape, feature) in decoded.zip(&features) {
            prop_assert_eq!(shape.len(), feature.0.len());
            for (rings, polygon) in shape.zip(feature) {
                let originals = std::iter::once(polygon.exterior()).chain(polygon.interiors());
                prop_assert_eq!(rings.len(), 1 + polygon.interiors().len());
                for (place, (ring, original)) in rings.zip(originals).enumerate() {
                    let mut nodes: Vec<(i32, i32)> = Vec::new();
                    for index in ring {
                        let mut arc = arcs[index.arc()].clone();
                        if index.is_reversed() {
                            arc.reverse();
                        }
                        prop_assert!(nodes.is_empty() || nodes.last() == arc.first(), "arcs join");
                        nodes.extend(arc);
                    }
                    prop_assert_eq!(nodes.first(), nodes.last(), "rings close");
                    let ring = nodes.iter().map(|&(x, y)| grid.position(Node { x, y }));
                    let area = area_on_sphere(&ring.collect::<Vec<_>>());
                    let clockwise = if place == 0 { area } else { -area };
                    prop_assert!(clockwise > -1e-13, "outer rings run clockwise, holes the other way: {}", area);
                    let expected = original.coords().map(|&position| {
                        let node = grid.node(position);
                        let found = grid.position(node);
                        let [step_x, step_y] = grid.transform().unwrap().scale;
                        assert!((found.x - position.x).abs() <= 0.5 * step_x * (1.0 + 1e-9));
                        assert!((found.y - position.y).abs() <= 0.5 * step_y * (1.0 + 1e-9));
                        (node.x, node.y)
                    });
                    prop_assert_eq!(canonical(nodes), canonical(expected.collect()));
                }
            }
        }
    }

    #[test]
    fn every_ring_of_a_document_has_four_positions_even_if_it_collapses(features in meshes(), cell in 1e-6..1e-3) {
        let template = fixture::areas()[0].clone();
        let small = AffineTransform::scale(cell, cell, coord! { x: 100.0, y: -7.0 });
        let area = |(number, outline): (u64, &MultiPolygon<f64>)| {
            Area { id: fixture::id(number), outline: outline.affine_transform(&small), ..template.clone() }
        };
        let areas = AreaSet::new((1..).zip(&features).map(area).collect()).unwrap();
        let all = (0..areas.len()).map(|position| (position, FloodStatus::NEVER_FLOODED)).collect();
        let document = document(&FloodLayer::new(std::sync::Arc::new(areas), all));
        let arcs = document["arcs"].as_array().unwrap();
        let steps = |arc: &i64| arcs[usize::try_from(*arc.max(&!arc)).unwrap()].as_array().unwrap().len() - 1;
        for geometry in document["objects"]["output"]["geometries"].as_array().unwrap() {
            let polygons: Vec<Rings> = match geometry["type"].as_str() {
                Some("Polygon") => vec![Rings::deserialize(&geometry["arcs"]).unwrap()],
                _ => Vec::deserialize(&geometry["arcs"]).unwrap(),
            };
            for ring in polygons.iter().flatten() {
                prop_assert!(ring.iter().map(steps).sum::<usize>() >= 3, "{}", document);
            }
        }
    }

    #[test]
    fn no_step_between_two_nodes_is_stored_twice(features in meshes()) {
        // A grid so fine that nothing collapses: then every border belongs to exactly one arc.
        let geometries: Vec<_> = features.iter().map(Geometry::MultiPolygon).collect();
        let topology = Topology::new(&geometries, coarse(100_000_000));
        let mut steps: Vec<[(i32, i32); 2]> = Vec::new();
        for arc in topology.arcs() {
            let nodes: Vec<_> = arc.map(|node| (node.x, node.y)).collect();
            steps.extend(nodes.windows(2).map(|pair| [pair[0].min(pair[1]), pair[0].max(pair[1])]));
        }
        let count = steps.len();
        steps.sort_unstable();
        steps.dedup();
        prop_assert_eq!(steps.len(), count);
    }
}
