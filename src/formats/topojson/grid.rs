use geo::{Coord, LineString, Polygon, Rect};

use super::Quantization;
use crate::model::Geometry;

/// A position on the grid, counted in steps from the south-western corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Steps to the east.
    pub x: i32,
    /// Steps to the north.
    pub y: i32,
}

/// The integer grid over a bounding box: the `transform` and the `bbox` of a topology.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    bounds: Rect<f64>,
    /// Steps per degree.
    density: Coord<f64>,
}

impl Grid {
    /// The grid over the box around all boxes; `None` when there are none.
    pub(super) fn around(boxes: impl Iterator<Item = Rect<f64>>, quantization: Quantization) -> Option<Self> {
        let bounds = boxes.reduce(around_both)?;
        let steps = f64::from(quantization.get() - 1);
        // A side without length has one step of one degree, as the reference implementation has it.
        let density = |length: f64| if length > 0.0 { steps / length } else { 1.0 };
        let density = Coord { x: density(bounds.width()), y: density(bounds.height()) };
        Some(Self { bounds, density })
    }

    /// The node nearest to a position within the box.
    #[must_use]
    pub fn node(&self, position: Coord<f64>) -> Node {
        let from_corner = position - self.bounds.min();
        Node { x: rounded(from_corner.x * self.density.x), y: rounded(from_corner.y * self.density.y) }
    }

    /// The node of the north-eastern corner.
    pub(super) fn last(&self) -> Node {
        self.node(self.bounds.max())
    }

    /// The position of a node.
    #[must_use]
    pub fn position(&self, node: Node) -> Coord<f64> {
        let ([scale_x, scale_y], [x, y]) = (self.scale(), self.translate());
        Coord { x: x + f64::from(node.x) * scale_x, y: y + f64::from(node.y) * scale_y }
    }

    /// Degrees per step: the `scale` of the transform.
    #[must_use]
    pub fn scale(&self) -> [f64; 2] {
        [1.0 / self.density.x, 1.0 / self.density.y]
    }

    /// The position of node 0, 0: the `translate` of the transform.
    #[must_use]
    pub fn translate(&self) -> [f64; 2] {
        [self.bounds.min().x, self.bounds.min().y]
    }

    /// West, south, east, north: the `bbox` of the topology.
    #[must_use]
    pub fn bbox(&self) -> [f64; 4] {
        bbox(self.bounds)
    }
}

/// The whole number nearest to one that is not negative, of two the greater; what `f64::round` answers, without a call.
fn rounded(number: f64) -> i32 {
    // Never outside i32: a quantization is at most 10⁹. So the difference is exact.
    let below = number as i32;
    below + i32::from(number - f64::from(below) >= 0.5)
}

/// West, south, east, north.
pub(super) fn bbox(bounds: Rect<f64>) -> [f64; 4] {
    let (low, high) = (bounds.min(), bounds.max());
    [low.x, low.y, high.x, high.y]
}

/// The box around two.
pub(super) fn around_both(a: Rect<f64>, b: Rect<f64>) -> Rect<f64> {
    let (low, high) = (a.min(), a.max());
    Rect::new(
        Coord { x: low.x.min(b.min().x), y: low.y.min(b.min().y) },
        Coord { x: high.x.max(b.max().x), y: high.y.max(b.max().y) },
    )
}

/// The box around a geometry.
pub(super) fn bounds(geometry: &Geometry<'_>) -> Option<Rect<f64>> {
    // Holes lie within.
    let outer = |polygon: &Polygon<f64>| around_line(polygon.exterior());
    match *geometry {
        Geometry::Point(position) => Some(Rect::new(position, position)),
        Geometry::LineString(line) => around_line(line),
        Geometry::Polygon(polygon) => outer(polygon),
        Geometry::MultiPolygon(polygons) => polygons.iter().filter_map(outer).reduce(around_both),
    }
}

/// The box around a line, without a branch for each position: which way it would go nobody can foretell.
fn around_line(line: &LineString<f64>) -> Option<Rect<f64>> {
    let first = *line.0.first()?;
    let (low, high) = line.0.iter().fold((first, first), |(low, high), at| {
        let low = Coord { x: low.x.min(at.x), y: low.y.min(at.y) };
        (low, Coord { x: high.x.max(at.x), y: high.y.max(at.y) })
    });
    Some(Rect::new(low, high))
}
