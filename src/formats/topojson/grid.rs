use geo::{BoundingRect, Coord, Rect};

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
    /// The grid over the box around all geometries; `None` when there is nothing to be around.
    pub(super) fn around(geometries: &[Geometry<'_>], quantization: Quantization) -> Option<Self> {
        let bounds = geometries.iter().filter_map(bounds).reduce(|a, b| {
            let (low, high) = (a.min(), a.max());
            Rect::new(
                Coord { x: low.x.min(b.min().x), y: low.y.min(b.min().y) },
                Coord { x: high.x.max(b.max().x), y: high.y.max(b.max().y) },
            )
        })?;
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
        // Never outside i32: a quantization is at most 10⁹.
        Node {
            x: (from_corner.x * self.density.x).round() as i32,
            y: (from_corner.y * self.density.y).round() as i32,
        }
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
        let (low, high) = (self.bounds.min(), self.bounds.max());
        [low.x, low.y, high.x, high.y]
    }
}

fn bounds(geometry: &Geometry<'_>) -> Option<Rect<f64>> {
    match *geometry {
        Geometry::Point(position) => Some(Rect::new(position, position)),
        Geometry::LineString(line) => line.bounding_rect(),
        Geometry::Polygon(polygon) => polygon.bounding_rect(),
        Geometry::MultiPolygon(polygons) => polygons.bounding_rect(),
    }
}
