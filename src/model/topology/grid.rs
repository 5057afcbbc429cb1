use geo::{Coord, CoordsIter, Rect};

use super::steps::STEPS_PER_DEGREE;
use crate::model::Geometry;

/// The number of a distinct position: from 0, in the order of first appearance. Equal positions have the same number.
pub(super) type NodeId = u32;

/// A position on the grid, in grid lines from the south-west corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The number of grid lines to the east.
    pub x: i32,
    /// The number of grid lines to the north.
    pub y: i32,
}

/// The resolution of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fineness {
    /// The coarsest grid with at least this many lines along each side, and cells of at most this many degrees.
    Even {
        /// The number of lines: from 2 to 1,000,000,000.
        lines: u32,
        /// The largest cell on either axis, in degrees.
        cell: f64,
    },
    /// A line at each multiple of 1e-5 degrees from the corner. Results of [`dissolved`](super::dissolved) and
    /// [`simplified`](super::simplified) lie on these lines, so they are not rounded.
    Steps,
    /// No rounding: each coordinate has its own line.
    Exact,
}

/// The grid over a bounding box: the `transform` and `bbox` of a topology.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    bounds: Rect<f64>,
    lines: Lines,
}

#[derive(Clone, Debug, PartialEq)]
enum Lines {
    /// Equidistant lines: `density` lines per degree, and `scale` degrees per line.
    Even { density: Coord<f64>, scale: Coord<f64> },
    /// A line through each coordinate, ascending.
    Exact { x: Vec<f64>, y: Vec<f64> },
}

/// Converts positions of a quantized topology to degrees: `scale · position + translate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Degrees per step, east and north.
    pub scale: [f64; 2],
    /// The position of the node 0, 0.
    pub translate: [f64; 2],
}

impl Grid {
    /// Creates a grid over `bounds`, which must contain the geometries.
    pub(super) fn over(geometries: &[Geometry<'_>], bounds: Rect<f64>, fineness: Fineness) -> Self {
        let lines = match fineness {
            Fineness::Even { lines, cell } => {
                let side_density = |length: f64| density(length, lines, cell);
                Lines::even(Coord { x: side_density(bounds.width()), y: side_density(bounds.height()) })
            }
            Fineness::Steps => Lines::even(Coord { x: STEPS_PER_DEGREE, y: STEPS_PER_DEGREE }),
            Fineness::Exact => {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                for geometry in geometries {
                    each_position(geometry, |at| {
                        x.push(at.x);
                        y.push(at.y);
                    });
                }
                Lines::Exact { x: ascending(x), y: ascending(y) }
            }
        };
        Self { bounds, lines }
    }

    /// Returns the node nearest to a position within the box. An exact grid has nodes only at the positions of its geometries.
    #[must_use]
    pub fn node(&self, position: Coord<f64>) -> Node {
        match &self.lines {
            Lines::Even { density, .. } => {
                let from_corner = position - self.bounds.min();
                Node { x: rounded(from_corner.x * density.x), y: rounded(from_corner.y * density.y) }
            }
            Lines::Exact { x, y } => {
                // The index fits into i32, because there are fewer lines than positions, and each position takes 16 bytes.
                let line_index = |lines: &[f64], at| lines.partition_point(|line| *line < at) as i32;
                Node { x: line_index(x, position.x), y: line_index(y, position.y) }
            }
        }
    }

    /// Returns the position of a node.
    #[must_use]
    pub fn position(&self, node: Node) -> Coord<f64> {
        match &self.lines {
            Lines::Even { scale, .. } => {
                let corner = self.bounds.min();
                Coord { x: corner.x + f64::from(node.x) * scale.x, y: corner.y + f64::from(node.y) * scale.y }
            }
            Lines::Exact { x, y } => Coord { x: x[node.x as usize], y: y[node.y as usize] },
        }
    }

    /// Returns the transform of a quantized topology; `None` if positions are in degrees.
    #[must_use]
    pub fn transform(&self) -> Option<Transform> {
        match &self.lines {
            Lines::Even { scale, .. } => {
                let corner = self.bounds.min();
                Some(Transform { scale: [scale.x, scale.y], translate: [corner.x, corner.y] })
            }
            Lines::Exact { .. } => None,
        }
    }

    /// Returns west, south, east and north.
    #[must_use]
    pub fn bbox(&self) -> [f64; 4] {
        bbox(self.bounds)
    }
}

impl Lines {
    fn even(density: Coord<f64>) -> Self {
        Self::Even { density, scale: Coord { x: 1.0 / density.x, y: 1.0 / density.y } }
    }
}

/// Returns how many lines per degree make cells of at most the given size, and at least `lines` lines.
fn density(length: f64, lines: u32, cell: f64) -> f64 {
    if length > 0.0 {
        // Adds one cell, so that rounding does not make cells larger than the limit.
        let cells = (length / cell).floor() + 1.0;
        cells.max(f64::from(lines - 1)) / length
    } else {
        1.0 / cell
    }
}

fn ascending(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.dedup();
    numbers.shrink_to_fit();
    numbers
}

/// Rounds a non-negative number, halves upwards. Returns the same as `f64::round`, but needs no function call.
fn rounded(number: f64) -> i32 {
    // The number fits into i32, so the difference is exact: no side has more than 10⁹ lines.
    let below = number as i32;
    below + i32::from(number - f64::from(below) >= 0.5)
}

pub(crate) fn bbox(bounds: Rect<f64>) -> [f64; 4] {
    let (low, high) = (bounds.min(), bounds.max());
    [low.x, low.y, high.x, high.y]
}

fn each_position(geometry: &Geometry<'_>, mut each: impl FnMut(Coord<f64>)) {
    match *geometry {
        Geometry::Point(position) => each(position),
        Geometry::LineString(line) => line.coords_iter().for_each(each),
        Geometry::Polygon(polygon) => polygon.coords_iter().for_each(each),
        Geometry::MultiPolygon(polygons) => polygons.coords_iter().for_each(each),
    }
}
