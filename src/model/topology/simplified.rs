use std::collections::BTreeSet;
use std::slice;

use geo::{Coord, Line, LineString, MultiPolygon, Polygon, Simplify};

use super::faults::{Side, arcs_at_fault, holes_are_inside};
use super::{ArcIndex, Fineness, Rings, Topology};
use crate::model::Geometry;

/// By how much the tolerance shrinks where a surface would cross itself.
const FINER: f64 = 2.0;
/// How often a border is simplified; the last time, it stays whole.
const ATTEMPTS: u8 = 8;

/// Simplifies surfaces so that no border moves by more than `tolerance` degrees, and neighbours still meet.
///
/// `rounded` rounds positions first. A border is simplified less, or not at all, if a surface would cross itself or collapse
/// otherwise. A surface that collapses by rounding alone stays as it is. Costs O(positions), and O(n log n) for the n positions
/// that are left of a polygon, for each of its holes.
#[must_use]
pub fn simplified(
    surfaces: &[Geometry<'_>],
    tolerance: f64,
    rounded: impl Fn(Coord<f64>) -> Coord<f64>,
) -> Vec<MultiPolygon<f64>> {
    let topology = Topology::new(surfaces, Fineness::Exact);
    let polygons: Vec<_> = topology.shapes().flat_map(|shape| shape.polygons()).collect();
    let mut borders = Borders::new(&topology, rounded);
    let is_valid = borders.simplify(&polygons, tolerance);
    let mut simple = polygons.into_iter().zip(is_valid);
    let simplified = surfaces.iter().map(|surface| {
        let whole: &[Polygon<f64>] = match surface {
            Geometry::Polygon(polygon) => slice::from_ref(polygon),
            Geometry::MultiPolygon(polygons) => &polygons.0,
            Geometry::Point(_) | Geometry::LineString(_) => &[],
        };
        let polygons = whole
            .iter()
            .zip(&mut simple)
            .map(|(whole, (rings, is_valid))| if is_valid { borders.polygon(rings) } else { whole.clone() });
        MultiPolygon::new(polygons.collect())
    });
    simplified.collect()
}

/// The borders of a topology.
struct Borders(Vec<Border>);

struct Border {
    whole: LineString<f64>,
    /// How often it was simplified.
    attempts: u8,
    simple: LineString<f64>,
}

impl Borders {
    fn new(topology: &Topology, rounded: impl Fn(Coord<f64>) -> Coord<f64>) -> Self {
        let Some(grid) = topology.grid() else { return Self(Vec::new()) };
        let borders = topology.arcs().map(|arc| {
            let mut whole: Vec<_> = arc.map(|node| rounded(grid.position(node))).collect();
            whole.dedup();
            Border { simple: LineString(Vec::new()), attempts: 0, whole: LineString(whole) }
        });
        Self(borders.collect())
    }

    /// Simplifies the borders, and returns which polygons are valid then.
    fn simplify(&mut self, polygons: &[Rings<'_>], tolerance: f64) -> Vec<bool> {
        let mut valid = vec![false; polygons.len()];
        let mut refined: BTreeSet<usize> = (0..self.0.len()).collect();
        while !refined.is_empty() {
            for border in &refined {
                self.0[*border].simplify(tolerance);
            }
            // A neighbour that was valid may not be any more.
            let changed = polygons.iter().zip(&mut valid);
            let changed =
                changed.filter(|(rings, _)| arcs((*rings).clone()).any(|arc| refined.contains(&arc)));
            let mut next = BTreeSet::new();
            for (rings, valid) in changed {
                let faults = self.faults(rings);
                *valid = faults.is_empty();
                let can_refine = |arc: &usize| self.0[*arc].attempts < ATTEMPTS;
                if faults.iter().any(can_refine) {
                    next.extend(faults.into_iter().filter(can_refine));
                } else if !*valid {
                    // The polygon stays whole, so its neighbours must meet it there.
                    next.extend(arcs(rings.clone()).filter(can_refine));
                }
            }
            refined = next;
        }
        valid
    }

    /// Returns the arcs at which a polygon is not valid; none if it is valid.
    fn faults(&self, rings: &Rings<'_>) -> BTreeSet<usize> {
        let sides = |(number, ring): (usize, &[ArcIndex])| {
            let of_arc = |arc: &ArcIndex| {
                let (line, data) = (&self.0[arc.arc()].simple, (number, arc.arc()));
                let is_reversed = arc.is_reversed();
                line.lines().map(move |Line { start, end }| {
                    let side =
                        if is_reversed { Line { start: end, end: start } } else { Line { start, end } };
                    Side::new(side, data)
                })
            };
            ring.iter().flat_map(of_arc).collect()
        };
        let faults = arcs_at_fault(&rings.clone().enumerate().map(sides).collect::<Vec<_>>());
        let is_sound =
            !faults.is_empty() || rings.len() == 1 || holes_are_inside(&self.polygon(rings.clone()));
        if is_sound { faults } else { arcs(rings.clone()).collect() }
    }

    fn polygon<'a>(&self, rings: impl Iterator<Item = &'a [ArcIndex]>) -> Polygon<f64> {
        let mut rings = rings.map(|ring| self.ring(ring));
        let exterior = rings.next().unwrap_or_else(|| LineString(Vec::new()));
        counter_clockwise(Polygon::new(exterior, rings.collect()))
    }

    fn ring(&self, arcs: &[ArcIndex]) -> LineString<f64> {
        let mut ring: Vec<Coord<f64>> = Vec::new();
        for arc in arcs {
            let line = &self.0[arc.arc()].simple.0;
            if arc.is_reversed() {
                ring.extend(line.iter().rev());
            } else {
                ring.extend(line);
            }
        }
        ring.dedup();
        LineString(ring)
    }
}

impl Border {
    /// Simplifies the border, less with each attempt, and not at all with the last one.
    fn simplify(&mut self, tolerance: f64) {
        self.simple = if self.attempts + 1 < ATTEMPTS {
            self.whole.simplify(tolerance / FINER.powi(self.attempts.into()))
        } else {
            self.whole.clone()
        };
        self.attempts += 1;
    }
}

fn arcs(rings: Rings<'_>) -> impl Iterator<Item = usize> {
    rings.flatten().map(|arc| arc.arc())
}

/// Turns rings round: those of a topology run clockwise outside, and counter-clockwise around holes.
fn counter_clockwise(polygon: Polygon<f64>) -> Polygon<f64> {
    let (mut exterior, mut interiors) = polygon.into_inner();
    exterior.0.reverse();
    for ring in &mut interiors {
        ring.0.reverse();
    }
    Polygon::new(exterior, interiors)
}
