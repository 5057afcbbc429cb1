use geo::Rect;

use super::arcs::Arcs;
use super::chains::{Chains, Lines};
use super::grid::{Fineness, Grid, Node};
use super::shapes::{Outline, Shape, Shapes};
use super::winding::Winding;
use crate::model::{Geometry, union_rect};

/// Geometries on a grid. Shared borders are stored once.
#[derive(Debug)]
pub struct Topology {
    grid: Option<Grid>,
    bounds: Vec<Option<Rect<f64>>>,
    chains: Chains,
    shapes: Shapes,
}

impl Topology {
    /// Finds the shared borders of the geometries and cuts them into arcs. Outer rings run clockwise and holes counter-clockwise,
    /// whatever their input direction. Costs O(positions); an exact grid also sorts them.
    #[must_use]
    pub fn new(geometries: &[Geometry<'_>], fineness: Fineness) -> Self {
        Self::bounded(None, geometries, fineness)
    }

    /// Like [`new`](Self::new), but on the grid over `whole`, a box around these geometries and others.
    pub(crate) fn bounded(whole: Option<Rect<f64>>, geometries: &[Geometry<'_>], fineness: Fineness) -> Self {
        let bounds: Vec<_> = geometries.iter().map(Geometry::bounds).collect();
        let whole = whole.or_else(|| bounds.iter().copied().flatten().reduce(union_rect));
        let Some(grid) = whole.map(|whole| Grid::over(geometries, whole, fineness)) else {
            return Self { grid: None, bounds, chains: Chains::default(), shapes: Shapes::default() };
        };
        let mut lines = Lines::with_capacity(geometries.iter().map(Geometry::positions).sum());
        let mut shapes = Shapes::default();
        for geometry in geometries {
            let outline = outline(*geometry, &grid, &mut lines, &mut shapes.polygons);
            shapes.outlines.push(outline);
        }
        let (mut chains, junctions) = Chains::join(lines);
        shapes.arcs = Arcs::cut(&mut chains, &junctions);
        Self { grid: Some(grid), bounds, chains, shapes }
    }

    /// Returns the grid; `None` if the topology is empty.
    #[must_use]
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// Returns the nodes of each arc.
    #[must_use]
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = impl ExactSizeIterator<Item = Node>> {
        let Chains { path, nodes, .. } = &self.chains;
        self.shapes.arcs.spans.iter().map(move |span| path[span.clone()].iter().map(|&id| nodes[id as usize]))
    }

    /// Returns the geometries in input order.
    #[must_use]
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = Shape<'_>> {
        (0..self.shapes.len()).map(|index| self.shapes.get(index))
    }

    pub(crate) fn into_shapes(self) -> (Option<Grid>, Shapes, Vec<Option<Rect<f64>>>) {
        (self.grid, self.shapes, self.bounds)
    }
}

/// Adds the lines and rings of a geometry to `lines`, and the ranges of its rings to `polygons`.
fn outline(
    geometry: Geometry<'_>,
    grid: &Grid,
    lines: &mut Lines,
    polygons: &mut Vec<std::ops::Range<usize>>,
) -> Outline {
    let first = polygons.len();
    let mut add = |polygon: &geo::Polygon<f64>| {
        let outer = lines.add_ring(polygon.exterior(), Winding::Clockwise, grid);
        let holes = polygon.interiors().iter();
        let holes = holes.map(|hole| lines.add_ring(hole, Winding::CounterClockwise, grid));
        polygons.push(outer..holes.last().unwrap_or(outer) + 1);
    };
    match geometry {
        Geometry::Point(position) => Outline::Point(grid.node(position)),
        Geometry::LineString(line) => Outline::LineString(lines.add_line(line, grid)),
        Geometry::Polygon(polygon) => {
            add(polygon);
            Outline::Polygon(first)
        }
        Geometry::MultiPolygon(all) => {
            all.iter().for_each(add);
            Outline::MultiPolygon(first..polygons.len())
        }
    }
}
