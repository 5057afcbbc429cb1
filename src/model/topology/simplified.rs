use geo::algorithm::Validation;
use geo::{Coord, LineString, MultiPolygon, Polygon, Simplify};

use super::{ArcIndex, Fineness, Topology};
use crate::model::Geometry;

/// By how much the tolerance shrinks where a surface would cross itself.
const FINER: f64 = 4.0;
/// How often it shrinks before a border is not simplified at all.
const ATTEMPTS: u8 = 3;

/// Simplifies surfaces so that no border moves by more than `tolerance` degrees, and neighbours still meet.
///
/// `rounded` rounds positions first. A border is simplified less, or not at all, if a surface would cross itself or collapse
/// otherwise. A surface that collapses by rounding alone stays as it is. Costs O(positions), and O(n²) for the n positions that
/// are left of a ring.
#[must_use]
pub fn simplified(
    surfaces: &[Geometry<'_>],
    tolerance: f64,
    rounded: impl Fn(Coord<f64>) -> Coord<f64>,
) -> Vec<MultiPolygon<f64>> {
    let topology = Topology::new(surfaces, Fineness::Exact);
    let borders = Borders::new(&topology, tolerance, rounded);
    let whole = surfaces.iter().map(|surface| match *surface {
        Geometry::Polygon(polygon) => MultiPolygon::new(vec![polygon.clone()]),
        Geometry::MultiPolygon(polygons) => polygons.clone(),
        Geometry::Point(_) | Geometry::LineString(_) => MultiPolygon::new(Vec::new()),
    });
    let simplified = topology.shapes().zip(whole).map(|(shape, whole)| {
        let pairs = shape.polygons().zip(whole).map(|(rings, whole)| {
            let polygon = borders.polygon(rings);
            if polygon.is_valid() { polygon } else { whole }
        });
        MultiPolygon::new(pairs.collect())
    });
    simplified.collect()
}

/// The borders of a topology, simplified.
struct Borders(Vec<Border>);

struct Border {
    whole: LineString<f64>,
    /// How often the tolerance has shrunk.
    attempts: u8,
    simple: LineString<f64>,
}

impl Borders {
    fn new(topology: &Topology, tolerance: f64, rounded: impl Fn(Coord<f64>) -> Coord<f64>) -> Self {
        let Some(grid) = topology.grid() else { return Self(Vec::new()) };
        let borders = topology.arcs().map(|arc| {
            let mut whole: Vec<_> = arc.map(|node| rounded(grid.position(node))).collect();
            whole.dedup();
            let whole = LineString(whole);
            Border { simple: whole.simplify(tolerance), attempts: 0, whole }
        });
        let mut borders = Self(borders.collect());
        let mut suspects: Vec<_> = topology.shapes().flat_map(|shape| shape.polygons()).collect();
        loop {
            suspects.retain(|rings| !borders.polygon(rings.clone()).is_valid());
            let mut arcs: Vec<_> =
                suspects.iter().flat_map(Clone::clone).flatten().map(|arc| arc.arc()).collect();
            arcs.sort_unstable();
            arcs.dedup();
            arcs.retain(|arc| borders.0[*arc].attempts < ATTEMPTS);
            if arcs.is_empty() {
                return borders;
            }
            for arc in arcs {
                borders.0[arc].refine(tolerance);
            }
            // A neighbour that was valid may not be any more.
            suspects = topology.shapes().flat_map(|shape| shape.polygons()).collect();
        }
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
    fn refine(&mut self, tolerance: f64) {
        self.attempts += 1;
        self.simple = if self.attempts < ATTEMPTS {
            self.whole.simplify(tolerance / FINER.powi(self.attempts.into()))
        } else {
            self.whole.clone()
        };
    }
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
