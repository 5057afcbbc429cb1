use super::Quantization;
use super::arc_index::ArcIndex;
use super::arcs::Arcs;
use super::chains::{ChainKind, Chains};
use super::grid::{Grid, Node};
use super::junctions;
use crate::model::Geometry;

/// A geometry of a topology, in the terms of its arcs.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape<'a> {
    /// A position, which has no arc.
    Point(Node),
    /// The arcs of a line.
    LineString(&'a [ArcIndex]),
    /// The arcs of each ring.
    Polygon(Vec<&'a [ArcIndex]>),
    /// The arcs of each ring of each polygon.
    MultiPolygon(Vec<Vec<&'a [ArcIndex]>>),
}

/// Geometries on a grid, with the borders they share stored once.
#[derive(Debug)]
pub struct Topology {
    grid: Option<Grid>,
    chains: Chains,
    arcs: Arcs,
    shapes: Vec<Outline>,
}

/// A geometry in the terms of its chains, which are numbered in the order of their adding.
#[derive(Debug)]
enum Outline {
    Point(Node),
    LineString(usize),
    Polygon(Rings),
    MultiPolygon(Vec<Rings>),
}

/// The chains of a polygon's rings.
type Rings = std::ops::Range<usize>;

impl Topology {
    /// Finds the borders the geometries share and cuts them into arcs, in O(positions).
    #[must_use]
    pub fn new(geometries: &[Geometry<'_>], quantization: Quantization) -> Self {
        let grid = Grid::around(geometries, quantization);
        let mut chains = Chains::default();
        let shapes = grid.iter().flat_map(|grid| {
            geometries.iter().map(|geometry| outline(*geometry, grid, &mut chains)).collect::<Vec<_>>()
        });
        let shapes = shapes.collect();
        let junctions = junctions::find(&chains);
        let arcs = Arcs::cut(&mut chains, &junctions);
        Self { grid, chains, arcs, shapes }
    }

    /// The grid the topology lies on; `None` when it is empty.
    #[must_use]
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// The nodes of each arc.
    #[must_use]
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = impl Iterator<Item = Node>> {
        self.arcs
            .spans
            .iter()
            .map(|span| self.chains.path[span.clone()].iter().map(|&id| self.chains.nodes[id as usize]))
    }

    /// The geometries, in the order they were given.
    #[must_use]
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = Shape<'_>> {
        let rings = |rings: &Rings| rings.clone().map(|chain| self.arcs.of_chain(chain)).collect();
        self.shapes.iter().map(move |shape| match shape {
            Outline::Point(node) => Shape::Point(*node),
            Outline::LineString(chain) => Shape::LineString(self.arcs.of_chain(*chain)),
            Outline::Polygon(polygon) => Shape::Polygon(rings(polygon)),
            Outline::MultiPolygon(polygons) => Shape::MultiPolygon(polygons.iter().map(rings).collect()),
        })
    }
}

fn outline(geometry: Geometry<'_>, grid: &Grid, chains: &mut Chains) -> Outline {
    let mut rings = |polygon: &geo::Polygon<f64>| {
        let first = chains.add(ChainKind::Ring, polygon.exterior(), grid);
        let holes = polygon.interiors().iter();
        first..holes.map(|hole| chains.add(ChainKind::Ring, hole, grid)).last().unwrap_or(first) + 1
    };
    match geometry {
        Geometry::Point(position) => Outline::Point(grid.node(position)),
        Geometry::LineString(line) => Outline::LineString(chains.add(ChainKind::Line, line, grid)),
        Geometry::Polygon(polygon) => Outline::Polygon(rings(polygon)),
        Geometry::MultiPolygon(polygons) => Outline::MultiPolygon(polygons.iter().map(rings).collect()),
    }
}
