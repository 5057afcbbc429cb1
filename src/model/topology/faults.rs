use std::collections::{BTreeMap, BTreeSet};

use geo::{Coord, GeoNum, Intersects, Kernel, Line, Orientation, Point};
use rstar::primitives::GeomWithData;
use rstar::{AABB, RTree};
use rustc_hash::FxHashMap;

pub(super) struct Ring {
    /// The number of the outer ring of its polygon; its own number if it is the outer ring.
    pub(super) outer: usize,
    /// The sides, with the surface on their right.
    pub(super) sides: Vec<Side>,
}

/// A side with the numbers of its ring and arc.
pub(super) type Side = GeomWithData<Line<f64>, (usize, usize)>;

const LEAST: usize = 3;

/// Returns the faulty arcs of each ring. A ring is faulty where it collapses, is inside out, or crosses or touches itself or
/// another ring; rings may touch at a shared corner. If no ring is faulty, returns the arcs of rings that lie inside or outside
/// the wrong ring. Costs O(n log n) for n sides, if a line from a ring to the east meets few of them.
pub(super) fn faults(rings: &[Ring]) -> Vec<BTreeSet<usize>> {
    let mut faults = vec![BTreeSet::new(); rings.len()];
    for (number, ring) in rings.iter().enumerate() {
        if ring.sides.len() < LEAST || !has_inside_on_its_right(ring, ring.outer == number) {
            faults[number].extend(arcs(ring));
        }
    }
    let sides = RTree::bulk_load(rings.iter().flat_map(|ring| &ring.sides).copied().collect());
    for (one, other) in sides.intersection_candidates_with_other_tree(&sides) {
        if !std::ptr::eq(one, other) && cross(one, other) {
            faults[one.data.0].extend([one.data.1, other.data.1]);
        }
    }
    for passages in corners(rings).into_values() {
        for (number, one) in passages.iter().enumerate() {
            for other in passages[..number].iter().filter(|other| cross_at_corner(**other, *one)) {
                let arcs = one.iter().chain(other).map(|side| side.data.1);
                faults[one[0].data.0].extend(arcs.clone());
                faults[other[0].data.0].extend(arcs);
            }
        }
    }
    if rings.len() > 1 && faults.iter().all(BTreeSet::is_empty) {
        for (number, ring) in rings.iter().enumerate() {
            let misplaced_polygons = misplaced_polygons(number, ring, &sides, rings);
            if misplaced_polygons.is_empty() {
                continue;
            }
            let blamed = rings.iter().filter(|ring| misplaced_polygons.contains(&ring.outer));
            faults[number].extend(blamed.flat_map(arcs));
        }
    }
    faults
}

fn arcs(ring: &Ring) -> impl Iterator<Item = usize> {
    ring.sides.iter().map(|side| side.data.1)
}

fn has_inside_on_its_right(ring: &Ring, is_outer: bool) -> bool {
    let Some(first) = ring.sides.first() else { return false };
    let from = first.geom().start;
    let doubled = ring.sides.iter().map(|side| {
        let (a, b) = (side.geom().start - from, side.geom().end - from);
        a.x * b.y - b.x * a.y
    });
    let doubled: f64 = doubled.sum();
    if is_outer { doubled < 0.0 } else { doubled > 0.0 }
}

/// Returns whether two sides meet anywhere except at a corner of their ring, or at a corner that their rings share.
fn cross(one: &Side, other: &Side) -> bool {
    let (a, b) = (one.geom(), other.geom());
    if !a.intersects(b) {
        return false;
    }
    let follow = a.end == b.start || b.end == a.start;
    if one.data.0 == other.data.0 && !follow {
        return true;
    }
    let (corner, from, to) = if a.end == b.start {
        (a.end, a.start, b.end)
    } else if a.start == b.end {
        (a.start, a.end, b.start)
    } else if a.start == b.start {
        (a.start, a.end, b.end)
    } else if a.end == b.end {
        (a.end, a.start, b.start)
    } else {
        return true;
    };
    // The sides overlap.
    let (back, on) = (from - corner, to - corner);
    orientation(from, corner, to) == Orientation::Collinear && back.x * on.x + back.y * on.y > 0.0
}

type Passage<'a> = [&'a Side; 2];

/// Returns for each corner the pairs of sides by which rings pass through it.
fn corners(rings: &[Ring]) -> FxHashMap<[i64; 2], Vec<Passage<'_>>> {
    let mut corners: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for ring in rings {
        for (into, out) in ring.sides.iter().zip(ring.sides.iter().cycle().skip(1)) {
            let Coord { x, y } = into.geom().end;
            // Coordinates are whole steps.
            corners.entry([x as i64, y as i64]).or_default().push([into, out]);
        }
    }
    corners
}

/// Returns whether two passages through a corner cross; they may touch.
fn cross_at_corner(one: Passage<'_>, other: Passage<'_>) -> bool {
    let [before, after] = one.map(|side| *side.geom());
    let is_left = |a, b| orientation(before.end, a, b) == Orientation::CounterClockwise;
    let is_between = |from, place, to| is_left(from, place) && is_left(place, to);
    let (from, to) = (before.start, after.end);
    let is_within =
        |place| if is_left(from, to) { is_between(from, place, to) } else { !is_between(to, place, from) };
    is_within(other[0].geom().start) != is_within(other[1].geom().end)
}

fn orientation(a: Coord<f64>, b: Coord<f64>, c: Coord<f64>) -> Orientation {
    <f64 as GeoNum>::Ker::orient2d(a, b, c)
}

/// Checks where a ring lies: an outer ring must not lie inside a surface, and a hole must lie inside its polygon. Returns the
/// outer rings of the faulty polygons. Rings must not cross.
fn misplaced_polygons(number: usize, ring: &Ring, sides: &RTree<Side>, rings: &[Ring]) -> BTreeSet<usize> {
    let Some(side) = ring.sides.first() else { return BTreeSet::new() };
    // Rings share only corners, so no other ring passes through the middle of this side.
    let place = (side.geom().start + side.geom().end) / 2.0;
    let mut around: BTreeMap<usize, i32> = BTreeMap::new();
    let east = AABB::from_corners(Point(place), Point::new(f64::MAX, place.y));
    for crossed in sides.locate_in_envelope_intersecting(&east).filter(|side| side.data.0 != number) {
        *around.entry(crossed.data.0).or_default() += windings(*crossed.geom(), place);
    }
    around.retain(|_, windings| *windings != 0);
    let is_outer = ring.outer == number;
    // Outer rings run clockwise, so a ring around the place counts -1.
    let expected = if is_outer { 0 } else { -1 };
    if around.values().sum::<i32>() == expected && (is_outer || around.contains_key(&ring.outer)) {
        return BTreeSet::new();
    }
    around.into_keys().map(|number| rings[number].outer).chain([ring.outer]).collect()
}

/// Returns a side's contribution to the winding number around a place: 1 for a side east of it that runs north, -1 for south.
fn windings(side: Line<f64>, place: Coord<f64>) -> i32 {
    let Line { start, end } = side;
    let is_left = |orientation| orientation == Orientation::CounterClockwise;
    if start.y <= place.y && place.y < end.y {
        i32::from(is_left(self::orientation(start, end, place)))
    } else if end.y <= place.y && place.y < start.y {
        -i32::from(is_left(self::orientation(end, start, place)))
    } else {
        0
    }
}
