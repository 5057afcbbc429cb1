//! Validates surfaces by OGC Simple Features (06-103r4, 6.1.11 and 6.1.14), and repairs them.

use std::fmt;

use geo::coordinate_position::CoordPos;
use geo::dimensions::Dimensions;
use geo::line_intersection::LineIntersection;
use geo::orient::{Direction, Orient};
use geo::sweep::{Cross, Intersections};
use geo::{
    BoundingRect, Coord, Intersects, Line, LineString, MakeValid, MultiPolygon, Polygon, PreparedGeometry,
    Relate, unary_union,
};
use geojson::GeometryValue;

use super::geometry::close_rings;

/// A fault of a geometry, and its place. The text continues a sentence: "crosses itself at [106.85, -6.15]".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    what: &'static str,
    at: Option<Coord<f64>>,
}

impl Fault {
    pub(super) fn new(what: &'static str, at: Option<Coord<f64>>) -> Self {
        Self { what, at }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        let Some(at) = self.at else { return Ok(()) };
        // A precision of a centimetre suffices to find the place.
        let [lng, lat] = [at.x, at.y].map(|degrees| (degrees * 1e7).round() / 1e7);
        write!(f, " at [{lng}, {lat}]")
    }
}

/// Finds a fault in a geometry whose rings are closed and have three different positions each. Different rings may touch each
/// other in single points. The cost is that of sorting the edges, and comparing polygons whose bounding boxes intersect.
pub(super) fn fault(outline: &MultiPolygon<f64>) -> Option<Fault> {
    crossing(outline).or_else(|| outline.iter().find_map(misplaced_hole)).or_else(|| {
        let at = overlap(&outline.0)?;
        Some(Fault::new("has polygons that overlap", Some(at)))
    })
}

/// Returns a GeoJSON surface, repaired if it is not valid, and its first fault.
///
/// # Errors
///
/// The reason, if the geometry is not a surface, a position is off the globe, or nothing valid is left.
pub fn repair_outline(geometry: &GeometryValue) -> Result<(MultiPolygon<f64>, Option<Fault>), String> {
    let (outline, ring_fault) = close_rings(geometry)?;
    let surface_fault = fault(&outline);
    let Some(fault) = ring_fault.or(surface_fault) else { return Ok((outline, None)) };
    let repaired = if surface_fault.is_some() { repair(&outline) } else { Some(outline) };
    let repaired = repaired.filter(|repaired| !repaired.0.is_empty());
    let repaired =
        repaired.ok_or_else(|| format!("geometry {fault}, and cannot be repaired; correct it there"))?;
    Ok((repaired.orient(Direction::Default), Some(fault)))
}

/// Applies the even-odd rule to the rings of each polygon, and merges polygons that overlap or share an edge. Positions stay
/// unchanged, except in merged polygons: there they can move by a millionth of the extent. `None` if nothing valid is left.
fn repair(outline: &MultiPolygon<f64>) -> Option<MultiPolygon<f64>> {
    let polygons: Option<Vec<_>> = outline.iter().map(|polygon| polygon.make_valid().ok()).collect();
    let polygons = MultiPolygon(polygons?.into_iter().flatten().collect());
    let repaired = if fault(&polygons).is_none() { polygons } else { unary_union(&polygons.0) };
    (!repaired.0.is_empty() && fault(&repaired).is_none()).then_some(repaired)
}

#[derive(Clone, Copy)]
struct Edge {
    ring: usize,
    number: usize,
    last: usize,
    line: Line<f64>,
}

impl Cross for Edge {
    type Scalar = f64;

    fn line(&self) -> Line<f64> {
        self.line
    }
}

impl Edge {
    /// Whether `other` is the next edge of the same ring, which starts where this edge ends. The first edge follows the last.
    fn is_followed_by(&self, other: &Self) -> bool {
        self.ring == other.ring && other.number == if self.number == self.last { 0 } else { self.number + 1 }
    }
}

fn edges(outline: &MultiPolygon<f64>) -> impl Iterator<Item = Edge> {
    let rings =
        outline.iter().flat_map(|polygon| [polygon.exterior()].into_iter().chain(polygon.interiors()));
    rings.enumerate().flat_map(|(ring, positions)| {
        // Skips edges of length 0, because consecutive positions may be equal.
        let lines: Vec<_> = positions.lines().filter(|line| line.start != line.end).collect();
        let last = lines.len().saturating_sub(1);
        lines.into_iter().enumerate().map(move |(number, line)| Edge { ring, number, last, line })
    })
}

/// Finds two edges that cross or overlap, or two edges of one ring that touch but are not neighbours.
fn crossing(outline: &MultiPolygon<f64>) -> Option<Fault> {
    let crossing_fault = |(one, other, meeting): (Edge, Edge, _)| match meeting {
        LineIntersection::Collinear { intersection: Line { start, end } } if start != end => {
            Some(Fault::new("runs twice along the same line", Some(start)))
        }
        LineIntersection::SinglePoint { intersection, is_proper: true } => {
            Some(Fault::new("crosses itself", Some(intersection)))
        }
        LineIntersection::SinglePoint { intersection, .. }
            if one.ring == other.ring && !one.is_followed_by(&other) && !other.is_followed_by(&one) =>
        {
            Some(Fault::new("touches itself", Some(intersection)))
        }
        _ => None,
    };
    edges(outline).collect::<Intersections<Edge>>().find_map(crossing_fault)
}

/// Finds a hole that is not within its polygon, or overlaps another hole.
fn misplaced_hole(polygon: &Polygon<f64>) -> Option<Fault> {
    if polygon.interiors().is_empty() {
        return None;
    }
    let shell = polygon_from_ring(polygon.exterior());
    let shell = PreparedGeometry::from(&shell);
    let holes: Vec<_> = polygon.interiors().iter().map(polygon_from_ring).collect();
    let outside = holes.iter().find(|hole| !shell.relate(*hole).is_contains());
    match outside {
        Some(hole) => Some(Fault::new("has a hole outside its polygon", Some(first_position(hole)))),
        None => overlap(&holes).map(|at| Fault::new("has holes that overlap", Some(at))),
    }
}

/// Finds a polygon whose interior overlaps the interior of another polygon, and returns its first position.
fn overlap(polygons: &[Polygon<f64>]) -> Option<Coord<f64>> {
    let boxes: Vec<_> = polygons.iter().map(BoundingRect::bounding_rect).collect();
    let overlaps = |one: usize, other: usize| {
        boxes[one].zip(boxes[other]).is_some_and(|(one, other)| one.intersects(&other))
            && polygons[one].relate(&polygons[other]).get(CoordPos::Inside, CoordPos::Inside)
                == Dimensions::TwoDimensional
    };
    let index = (1..polygons.len()).find(|&one| (0..one).any(|other| overlaps(one, other)))?;
    Some(first_position(&polygons[index]))
}

fn polygon_from_ring(ring: &LineString<f64>) -> Polygon<f64> {
    Polygon::new(ring.clone(), Vec::new())
}

fn first_position(polygon: &Polygon<f64>) -> Coord<f64> {
    polygon.exterior().0[0]
}

#[cfg(test)]
mod tests {
    use geo::{Area, wkt};

    use super::*;

    /// Returns polygons whose rings are rectangles, each given by its west, south, east and north.
    fn rects(polygons: &[&[[i32; 4]]]) -> MultiPolygon<f64> {
        let ring = |sides: &[i32; 4]| {
            let [west, south, east, north] = sides.map(f64::from);
            vec![(west, south), (east, south), (east, north), (west, north), (west, south)].into()
        };
        let polygon =
            |rings: &&[[i32; 4]]| Polygon::new(ring(&rings[0]), rings[1..].iter().map(ring).collect());
        MultiPolygon(polygons.iter().map(polygon).collect())
    }

    #[test]
    fn faults_are_located_and_repaired() {
        for (outline, expected, area) in [
            (wkt!(MULTIPOLYGON(((0. 0., 2. 2., 2. 0., 0. 2., 0. 0.)))), "crosses itself at [1, 1]", Some(2.)),
            (
                wkt!(MULTIPOLYGON(((0. 0., 4. 0., 4. 4., 2. 4., 2. 6., 2. 4., 0. 4., 0. 0.)))),
                "touches itself at [2, 4]",
                Some(16.),
            ),
            (rects(&[&[[0, 0, 4, 4], [2, 2, 6, 3]]]), "crosses itself at [4, 2]", Some(16.)),
            (rects(&[&[[0, 0, 4, 4], [5, 5, 6, 6]]]), "has a hole outside its polygon at [5, 5]", Some(17.)),
            (
                rects(&[&[[0, 0, 9, 9], [1, 1, 8, 8], [2, 2, 3, 3]]]),
                "has holes that overlap at [2, 2]",
                Some(33.),
            ),
            (rects(&[&[[0, 0, 9, 9]], &[[1, 1, 2, 2]]]), "has polygons that overlap at [1, 1]", Some(81.)),
            (
                rects(&[&[[0, 0, 1, 1]], &[[1, 0, 2, 1]]]),
                "runs twice along the same line at [1, 1]",
                Some(2.),
            ),
            (
                wkt!(MULTIPOLYGON(((0. 0., 1. 0., 2. 0., 0. 0.)))),
                "runs twice along the same line at [0, 0]",
                None,
            ),
        ] {
            assert_eq!(fault(&outline).map(|fault| fault.to_string()).as_deref(), Some(expected));
            let repaired = repair(&outline);
            assert!(repaired.as_ref().is_none_or(|repaired| fault(repaired).is_none()), "{repaired:?}");
            assert_eq!(repaired.map(|repaired| repaired.unsigned_area()), area, "{expected}");
        }
    }

    #[test]
    fn rings_that_touch_in_single_points_and_islands_in_holes_are_valid() {
        for outline in [
            wkt!(MULTIPOLYGON(((0. 0., 4. 0., 4. 4., 0. 4., 0. 0.), (0. 2., 2. 1., 3. 2., 2. 3., 0. 2.)))),
            wkt!(MULTIPOLYGON(((0. 0., 1. 0., 1. 1., 0. 0.)), ((1. 1., 2. 1., 2. 2., 1. 1.)))),
            rects(&[&[[0, 0, 9, 9], [1, 1, 8, 8]], &[[2, 2, 3, 3]]]),
            wkt!(MULTIPOLYGON(((0. 0., 1. 0., 1. 0., 1. 1., 0. 0., 0. 0.)))),
        ] {
            assert_eq!(fault(&outline), None, "{outline:?}");
        }
    }

    #[test]
    fn a_repair_keeps_existing_positions() {
        let outline: MultiPolygon<f64> =
            wkt!(MULTIPOLYGON(((106.7 - 6.15, 106.75 - 6.1, 106.75 - 6.15, 106.7 - 6.1, 106.7 - 6.15))));
        let repaired = repair(&outline).unwrap();
        let kept: Vec<_> = repaired.iter().flat_map(|polygon| polygon.exterior().0.clone()).collect();
        assert!(outline.0[0].exterior().0.iter().all(|position| kept.contains(position)), "{kept:?}");
    }
}
