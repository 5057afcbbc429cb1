use std::collections::BTreeSet;

use geo::coordinate_position::CoordPos;
use geo::dimensions::Dimensions;
use geo::{BoundingRect, Intersects, Line, LineString, Polygon, PreparedGeometry, Relate};
use rstar::RTree;
use rstar::primitives::GeomWithData;

/// A side of a ring: the numbers of its ring and of its arc.
pub(super) type Side = GeomWithData<Line<f64>, (usize, usize)>;

/// The least sides of a ring.
const LEAST: usize = 3;

/// Returns the arcs at which rings collapse, cross themselves or cross others; none if no ring does. Costs O(n log n) for n sides.
pub(super) fn arcs_at_fault(rings: &[Vec<Side>]) -> BTreeSet<usize> {
    let collapsed = rings.iter().filter(|sides| sides.len() < LEAST).flatten();
    let mut arcs: BTreeSet<usize> = collapsed.map(|side| side.data.1).collect();
    let sides = RTree::bulk_load(rings.concat());
    for (one, other) in sides.intersection_candidates_with_other_tree(&sides) {
        if cross(one, other) {
            arcs.extend([one.data.1, other.data.1]);
        }
    }
    arcs
}

/// Returns whether two sides meet other than one ring's sides at their corner, or two rings at a common corner.
fn cross(one: &Side, other: &Side) -> bool {
    let (a, b) = (one.geom(), other.geom());
    let follow = a.end == b.start || b.end == a.start;
    let of_one_ring = one.data.0 == other.data.0;
    let meet_at_corner = follow || (!of_one_ring && (a.start == b.start || a.end == b.end));
    a != b && !meet_at_corner && a.intersects(b)
}

/// Returns whether the holes of a polygon lie inside it and apart from each other, except for single points (OGC 06-103r4
/// §6.1.11.1). No ring may cross another.
///
/// Costs O(n log n) for the n positions of the polygon, for each hole; holes whose bounding boxes meet are compared.
pub(super) fn holes_are_inside(polygon: &Polygon<f64>) -> bool {
    let alone = |ring: &LineString<f64>| Polygon::new(ring.clone(), Vec::new());
    let outer = alone(polygon.exterior());
    let outer = PreparedGeometry::from(&outer);
    let holes: Vec<_> = polygon.interiors().iter().map(alone).collect();
    let is_inside = |hole: &Polygon<f64>| {
        let found = outer.relate(hole);
        found.is_contains() && !is_line(found.get(CoordPos::OnBoundary, CoordPos::OnBoundary))
    };
    let are_apart = |one: &Polygon<f64>, other: &Polygon<f64>| {
        let boxes = one.bounding_rect().zip(other.bounding_rect());
        if !boxes.is_some_and(|(one, other)| one.intersects(&other)) {
            return true;
        }
        let found = one.relate(other);
        found.get(CoordPos::Inside, CoordPos::Inside) == Dimensions::Empty
            && !is_line(found.get(CoordPos::OnBoundary, CoordPos::OnBoundary))
    };
    let pairs = holes.iter().enumerate();
    let mut pairs = pairs.flat_map(|(index, one)| holes[..index].iter().map(move |other| (one, other)));
    holes.iter().all(is_inside) && pairs.all(|(one, other)| are_apart(one, other))
}

fn is_line(dimensions: Dimensions) -> bool {
    dimensions == Dimensions::OneDimensional
}
