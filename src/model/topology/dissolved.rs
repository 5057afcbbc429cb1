use std::collections::BTreeMap;

use geo::{Area, BoundingRect, Contains, Coord, LineString, MultiPolygon, Point, Polygon};
use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay::{IntOverlayOptions, Overlay};
use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::core::solver::Solver;
use i_overlay::i_float::int::point::IntPoint;
use rstar::RTree;
use rstar::primitives::{GeomWithData, Rectangle};
use rustc_hash::FxHashMap;

use super::steps::{to_degrees, to_steps};
use crate::model::Geometry;

/// Returns the union of each group of surfaces. `groups` has the group of each surface, below `count`.
///
/// Positions are rounded to 5 decimals (1 m). Positions between areas of a group disappear; all others stay, so neighbouring
/// groups have the same positions along their border. Each union is valid (OGC 06-103r4 §6.1.11), even if surfaces overlap or
/// cross themselves. A gap between surfaces becomes a hole. A group that collapses by rounding has an empty union. Outer rings
/// run counter-clockwise (RFC 7946 §3.1.6). Costs O(positions), and O(n log n) for the n remaining positions.
#[must_use]
pub fn dissolved(surfaces: &[Geometry<'_>], groups: &[usize], count: usize) -> Vec<MultiPolygon<f64>> {
    let mut members = vec![Vec::new(); count];
    for (surface, group) in surfaces.iter().zip(groups) {
        members[*group].push(*surface);
    }
    members.iter().map(|surfaces| union(surfaces)).collect()
}

fn union(surfaces: &[Geometry<'_>]) -> MultiPolygon<f64> {
    let contours = join_closed(border(surfaces));
    let options = IntOverlayOptions::keep_all_points();
    let mut overlay = Overlay::with_contours_custom(&contours, &[], options, Solver::default());
    // `NonZero`, because the rings of overlapping areas wind around a place more than once.
    let shapes = overlay.overlay(OverlayRule::Subject, FillRule::NonZero);
    let sides = shapes.iter().flatten().flat_map(|ring| {
        let next = ring.iter().cycle().skip(1);
        ring.iter().zip(next).map(|(from, to)| [*from, *to])
    });
    polygons(simple_rings(&sides.collect::<Vec<_>>()))
}

/// How often each directed side occurs. A negative number counts the opposite direction.
type Sides = FxHashMap<[IntPoint; 2], i32>;

/// Returns the sides of the surfaces, with the surface on their left. Sides shared by two neighbours cancel out.
fn border(surfaces: &[Geometry<'_>]) -> Sides {
    let mut sides = Sides::default();
    let mut add = |polygon: &Polygon<f64>| {
        add_ring(polygon.exterior(), true, &mut sides);
        polygon.interiors().iter().for_each(|hole| add_ring(hole, false, &mut sides));
    };
    for surface in surfaces {
        match surface {
            Geometry::Polygon(polygon) => add(polygon),
            Geometry::MultiPolygon(polygons) => polygons.iter().for_each(&mut add),
            Geometry::Point(_) | Geometry::LineString(_) => {}
        }
    }
    sides
}

/// Counts the sides of a ring in the given direction of rotation; opposite directions of a side cancel out.
fn add_ring(ring: &LineString<f64>, counter_clockwise: bool, sides: &mut Sides) {
    let node = |position: &Coord<f64>| {
        let Coord { x, y } = to_steps(*position);
        // The numbers fit into i32: 360° are 36 million steps.
        IntPoint::new(x as i32, y as i32)
    };
    let nodes: Vec<_> = ring.coords().map(node).collect();
    let direction = if (doubled_area(&nodes) > 0) == counter_clockwise { 1 } else { -1 };
    for (from, to) in nodes.iter().zip(nodes.iter().skip(1)) {
        if from < to {
            *sides.entry([*from, *to]).or_default() += direction;
        } else if from > to {
            *sides.entry([*to, *from]).or_default() -= direction;
        }
    }
}

/// Returns twice the signed area of a closed ring; negative if clockwise.
fn doubled_area(nodes: &[IntPoint]) -> i128 {
    let pairs = nodes.iter().zip(nodes.iter().skip(1));
    pairs.map(|(a, b)| i128::from(i64::from(a.x) * i64::from(b.y) - i64::from(b.x) * i64::from(a.y))).sum()
}

/// Joins sides into closed lines. Leaves out the last position of each line, because it equals the first.
fn join_closed(sides: Sides) -> Vec<Vec<IntPoint>> {
    let mut onward: BTreeMap<IntPoint, Vec<IntPoint>> = BTreeMap::new();
    for ([from, to], times) in sides {
        let (from, to) = if times > 0 { (from, to) } else { (to, from) };
        for _ in 0..times.unsigned_abs() {
            onward.entry(from).or_default().push(to);
        }
    }
    let mut lines = Vec::new();
    while let Some((first, _)) = onward.first_key_value() {
        let (mut at, mut line) = (*first, Vec::new());
        // Rings are closed, so as many sides leave a position as enter it.
        while let Some(next) = next(&mut onward, at) {
            line.push(at);
            at = next;
        }
        lines.push(line);
    }
    lines
}

/// Removes a side that begins at `at` and returns its end.
fn next(onward: &mut BTreeMap<IntPoint, Vec<IntPoint>>, at: IntPoint) -> Option<IntPoint> {
    let ends = onward.get_mut(&at)?;
    let end = ends.pop();
    if ends.is_empty() {
        onward.remove(&at);
    }
    end
}

/// Joins the sides of a surface, which lies on their left, into rings without repeated positions.
fn simple_rings(sides: &[[IntPoint; 2]]) -> Vec<Vec<IntPoint>> {
    let mut onward: FxHashMap<IntPoint, Vec<usize>> = FxHashMap::default();
    for (side, [from, _]) in sides.iter().enumerate() {
        onward.entry(*from).or_default().push(side);
    }
    let mut used = vec![false; sides.len()];
    let mut rings = Vec::new();
    // The positions since the last ring was closed, and the index of each position.
    let (mut path, mut path_indices) = (Vec::new(), FxHashMap::default());
    for first in 0..sides.len() {
        let mut next = Some(first);
        while let Some(side) = next.filter(|side| !used[*side]) {
            used[side] = true;
            let [from, to] = sides[side];
            path_indices.insert(from, path.len());
            path.push(from);
            if let Some(begin) = path_indices.get(&to) {
                let ring: Vec<_> = path.drain(begin..).collect();
                for node in &ring {
                    path_indices.remove(node);
                }
                rings.push(ring);
            }
            // Continues with the leftmost side, so that parts of the surface that touch only at a position get separate rings.
            let left_turn = |next: usize| turn(sides[side], sides[next]);
            let ends = onward.get(&to).into_iter().flatten().copied();
            next = ends.max_by(|a, b| left_turn(*a).total_cmp(&left_turn(*b)));
        }
    }
    rings
}

fn turn(side: [IntPoint; 2], next: [IntPoint; 2]) -> f64 {
    let vector = |[from, to]: [IntPoint; 2]| (f64::from(to.x - from.x), f64::from(to.y - from.y));
    let ((a, b), (c, d)) = (vector(side), vector(next));
    (a * d - b * c).atan2(a * c + b * d)
}

/// The area and number of an outer ring, indexed by its bounding box.
type Outer = GeomWithData<Rectangle<Point<f64>>, (f64, usize)>;

/// Builds polygons: counter-clockwise rings are outer rings, the others are holes in them.
fn polygons(rings: Vec<Vec<IntPoint>>) -> MultiPolygon<f64> {
    let rings = rings.into_iter().map(|ring| {
        let position = |at: IntPoint| Coord { x: f64::from(at.x), y: f64::from(at.y) };
        // `Polygon::new` closes the ring.
        Polygon::new(ring.into_iter().map(position).collect(), Vec::new())
    });
    let (mut polygons, holes): (Vec<_>, Vec<_>) = rings.partition(|ring| ring.signed_area() > 0.0);
    let outers = polygons.iter().enumerate().filter_map(|(number, polygon)| {
        let bounds = polygon.bounding_rect()?;
        let corners = Rectangle::from_corners(Point(bounds.min()), Point(bounds.max()));
        Some(Outer::new(corners, (polygon.unsigned_area(), number)))
    });
    let outers = RTree::bulk_load(outers.collect());
    let mut holes_by_polygon: Vec<Vec<LineString<f64>>> = vec![Vec::new(); polygons.len()];
    for hole in holes {
        let Some(side) = hole.exterior().lines().next() else { continue };
        // Rings share corners only, so this place is on no other ring.
        let place = Point((side.start + side.end) / 2.0);
        let around =
            outers.locate_all_at_point(&place).filter(|outer| polygons[outer.data.1].contains(&place));
        // A hole belongs to the smallest outer ring around it.
        if let Some(outer) = around.min_by(|a, b| a.data.0.total_cmp(&b.data.0)) {
            holes_by_polygon[outer.data.1].push(hole.into_inner().0);
        }
    }
    for (polygon, holes) in polygons.iter_mut().zip(holes_by_polygon) {
        for hole in holes {
            polygon.interiors_push(hole);
        }
    }
    MultiPolygon::new(polygons.into_iter().map(to_degrees).collect())
}
