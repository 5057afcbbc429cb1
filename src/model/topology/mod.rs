//! Geometries whose shared borders are stored once, as arcs.
//!
//! A [`Topology`] is built in four steps:
//!
//! 1. `grid`: positions are rounded to an integer grid over the bounding box, or get exact grid lines of their own.
//! 2. `chains`: lines and rings are laid out one after the other, outer rings clockwise (`winding`), with numbered positions.
//! 3. `junctions`: positions at which borders meet or part are found.
//! 4. `arcs`: lines and rings are cut at the junctions; pieces that are equal in either direction are stored once.
//!
//! `dissolved` unites groups of areas, and `simplified` reduces the positions of arcs. Borders still meet after both, because
//! neighbours share positions and arcs.

mod arc_index;
mod arcs;
mod chains;
mod dissolved;
mod faults;
mod grid;
mod junctions;
mod shapes;
mod simplified;
mod steps;
#[expect(clippy::module_inception, reason = "the type has the name of the concept")]
mod topology;
mod winding;

pub use self::arc_index::ArcIndex;
pub use self::dissolved::dissolved;
pub(crate) use self::grid::bbox;
pub use self::grid::{Fineness, Grid, Node, Transform};
pub(crate) use self::shapes::Shapes;
pub use self::shapes::{Polygons, Rings, Shape};
pub use self::simplified::simplified;
pub use self::topology::Topology;
