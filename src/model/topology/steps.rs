//! Positions in whole steps. A double holds such numbers exactly, so outlines that meet in steps also meet on any map.

use geo::{Coord, LineString, Polygon};

/// Steps per degree: a step is about 1.1 m.
pub(crate) const STEPS_PER_DEGREE: f64 = 1e5;

pub(super) fn to_steps(Coord { x, y }: Coord<f64>) -> Coord<f64> {
    Coord { x: (x * STEPS_PER_DEGREE).round(), y: (y * STEPS_PER_DEGREE).round() }
}

pub(super) fn to_degrees(polygon: Polygon<f64>) -> Polygon<f64> {
    let ring_to_degrees = |ring: LineString<f64>| -> LineString<f64> {
        ring.into_iter()
            .map(|Coord { x, y }| Coord { x: x / STEPS_PER_DEGREE, y: y / STEPS_PER_DEGREE })
            .collect()
    };
    let (exterior, interiors) = polygon.into_inner();
    Polygon::new(ring_to_degrees(exterior), interiors.into_iter().map(ring_to_degrees).collect())
}
