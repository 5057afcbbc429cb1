use std::collections::BTreeSet;
use std::slice;

use geo::{Coord, Line, LineString, MultiPolygon, Polygon, Simplify};

use super::faults::{Ring, Side, faults};
use super::steps::{STEPS_PER_DEGREE, to_degrees, to_steps};
use super::{ArcIndex, Fineness, Rings, Topology};
use crate::model::Geometry;

/// Each further attempt divides the tolerance by this number.
const FINER: f64 = 2.0;
/// The number of attempts for a border. The last attempt leaves the border unchanged.
const ATTEMPTS: u8 = 8;

/// Simplifies surfaces: borders move by at most `tolerance` degrees, and neighbours still meet.
///
/// Rounds positions to 5 decimals (1 m). A border is simplified less, or not at all, if a surface would otherwise cross itself or
/// collapse, or if a part or hole would be misplaced. A polygon that collapses by rounding alone stays unchanged. A polygon that
/// is valid with 5 decimals stays valid. Costs O(n log n) for the n positions of a surface.
#[must_use]
pub fn simplified(surfaces: &[Geometry<'_>], tolerance: f64) -> Vec<MultiPolygon<f64>> {
    let topology = Topology::new(surfaces, Fineness::Exact);
    let shapes: Vec<Vec<_>> = topology.shapes().map(|shape| shape.polygons().collect()).collect();
    let mut borders = Borders::new(&topology);
    let is_valid = borders.simplify(&shapes, tolerance);
    let simplified = surfaces.iter().zip(shapes).zip(is_valid).map(|((surface, polygons), is_valid)| {
        let whole: &[Polygon<f64>] = match surface {
            Geometry::Polygon(polygon) => slice::from_ref(polygon),
            Geometry::MultiPolygon(polygons) => &polygons.0,
            Geometry::Point(_) | Geometry::LineString(_) => &[],
        };
        let polygons =
            whole.iter().zip(polygons).zip(is_valid).map(|((whole, rings), is_valid)| {
                if is_valid { borders.polygon(rings) } else { whole.clone() }
            });
        MultiPolygon::new(polygons.collect())
    });
    simplified.collect()
}

struct Borders(Vec<Border>);

struct Border {
    whole: LineString<f64>,
    attempts: u8,
    simple: LineString<f64>,
}

impl Borders {
    fn new(topology: &Topology) -> Self {
        let Some(grid) = topology.grid() else { return Self(Vec::new()) };
        let borders = topology.arcs().map(|arc| {
            let mut whole: Vec<_> = arc.map(|node| to_steps(grid.position(node))).collect();
            whole.dedup();
            Border { simple: LineString(Vec::new()), attempts: 0, whole: LineString(whole) }
        });
        Self(borders.collect())
    }

    /// Simplifies all borders, with less tolerance where polygons become invalid. Returns which polygons are valid in the end.
    fn simplify(&mut self, surfaces: &[Vec<Rings<'_>>], tolerance: f64) -> Vec<Vec<bool>> {
        let mut valid: Vec<_> = surfaces.iter().map(|polygons| vec![false; polygons.len()]).collect();
        let mut refined: BTreeSet<usize> = (0..self.0.len()).collect();
        while !refined.is_empty() {
            for border in &refined {
                self.0[*border].simplify(tolerance * STEPS_PER_DEGREE);
            }
            // Checks all surfaces along refined borders again, because refining a border can make a valid neighbour invalid.
            let changed = surfaces.iter().zip(&mut valid);
            let changed = changed.filter(|(polygons, _)| {
                polygons.iter().any(|rings| arcs(rings.clone()).any(|arc| refined.contains(&arc)))
            });
            let mut next = BTreeSet::new();
            for (polygons, valid) in changed {
                for ((rings, valid), faults) in polygons.iter().zip(valid).zip(self.faults(polygons)) {
                    *valid = faults.is_empty();
                    let can_refine = |arc: &usize| self.0[*arc].attempts < ATTEMPTS;
                    if faults.iter().any(can_refine) {
                        next.extend(faults.into_iter().filter(can_refine));
                    } else if !*valid {
                        // The polygon stays unchanged, so its neighbours must keep all positions of the shared borders.
                        next.extend(arcs(rings.clone()).filter(can_refine));
                    }
                }
            }
            refined = next;
        }
        valid
    }

    /// Returns for each polygon the arcs whose simplified sides make the polygon invalid.
    fn faults(&self, polygons: &[Rings<'_>]) -> Vec<BTreeSet<usize>> {
        let mut rings = Vec::new();
        for polygon in polygons {
            let outer = rings.len();
            rings.extend(polygon.clone().zip(outer..).map(|(arcs, number)| {
                let sides = arcs.iter().flat_map(|arc| {
                    let (line, data) = (&self.0[arc.arc()].simple, (number, arc.arc()));
                    let is_reversed = arc.is_reversed();
                    line.lines().map(move |Line { start, end }| {
                        let (start, end) = if is_reversed { (end, start) } else { (start, end) };
                        Side::new(Line { start, end }, data)
                    })
                });
                Ring { outer, sides: sides.collect() }
            }));
        }
        let mut ring_faults = faults(&rings).into_iter();
        let polygon_faults =
            |polygon: &Rings<'_>| ring_faults.by_ref().take(polygon.len()).flatten().collect();
        polygons.iter().map(polygon_faults).collect()
    }

    fn polygon<'a>(&self, rings: impl Iterator<Item = &'a [ArcIndex]>) -> Polygon<f64> {
        let mut rings = rings.map(|ring| self.ring(ring));
        let exterior = rings.next().unwrap_or_else(|| LineString(Vec::new()));
        to_degrees(counter_clockwise(Polygon::new(exterior, rings.collect())))
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
    /// Simplifies the whole arc, with less tolerance at each attempt. The last attempt leaves it unchanged.
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

/// Reverses all rings, because outer rings run clockwise in a topology.
fn counter_clockwise(polygon: Polygon<f64>) -> Polygon<f64> {
    let (mut exterior, mut interiors) = polygon.into_inner();
    exterior.0.reverse();
    for ring in &mut interiors {
        ring.0.reverse();
    }
    Polygon::new(exterior, interiors)
}
