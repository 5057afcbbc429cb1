//! Shared borders are stored once.

use geo::{Coord, LineString, MultiPolygon, Polygon};
use proptest::prelude::*;
use serde_json::json;
use siaga::model::Geometry;
use siaga::model::topology::{Fineness, Node, Shape, Topology};

/// A grid with this many lines along each side, for any cell size.
fn coarse(lines: u32) -> Fineness {
    Fineness::Even { lines, cell: f64::INFINITY }
}

fn line(positions: &[(i32, i32)]) -> LineString<f64> {
    positions.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).collect()
}

#[test]
fn rings_of_the_same_nodes_in_another_order_are_different_arcs() {
    let rings =
        [line(&[(0, 0), (4, 0), (4, 4), (0, 4), (0, 0)]), line(&[(0, 0), (4, 4), (4, 0), (0, 4), (0, 0)])]
            .map(|ring| Polygon::new(ring, vec![]));
    let topology = Topology::new(&rings.each_ref().map(Geometry::Polygon), coarse(10));
    let lengths: usize = topology.arcs().map(|arc| arc.count() - 1).sum();
    assert_eq!(lengths, 6, "two borders are shared and four are not");
}

#[test]
fn a_line_is_cut_where_another_line_leaves_it() {
    let lines = [line(&[(0, 0), (1, 1), (2, 2), (3, 3)]), line(&[(9, 9), (2, 2), (1, 1), (0, 0)])];
    let geometries = lines.each_ref().map(Geometry::LineString);
    let topology = Topology::new(&geometries, coarse(10));
    let uses = topology.shapes().map(|shape| match shape {
        Shape::LineString(arcs) => json!(arcs),
        other => panic!("{other:?}"),
    });
    assert_eq!(uses.collect::<Vec<_>>(), [json!([0, 1]), json!([2, !0])]);
    assert_eq!(topology.arcs().len(), 3);
}

/// Generates a mesh of cells with jittered corners, assigned to features, and a frame whose hole is the outer border of the mesh.
/// Rings begin at any corner and run in either direction. On a coarse grid, many rings collapse or touch.
pub(crate) fn meshes() -> impl Strategy<Value = Vec<MultiPolygon<f64>>> {
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

/// Returns the closed ring, rotated by `by` positions, and optionally reversed.
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

/// A canonical form of a ring: without repeated nodes, in the least direction and rotation.
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

/// The area of a ring in steradians as d3 computes it: negative for counter-clockwise rings.
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
    fn no_step_between_two_nodes_is_stored_twice(features in meshes()) {
        // On such a fine grid nothing collapses, so every border belongs to exactly one arc.
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
