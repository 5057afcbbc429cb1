use std::ops::Range;
use std::slice;

use super::arc_index::ArcIndex;
use super::arcs::Arcs;
use super::grid::Node;

/// A geometry of a topology, expressed by its arcs.
#[derive(Clone, Debug)]
pub enum Shape<'a> {
    /// A position, which has no arc.
    Point(Node),
    /// The arcs of a line.
    LineString(&'a [ArcIndex]),
    /// The arcs of each ring.
    Polygon(Rings<'a>),
    /// The arcs of each ring of each polygon.
    MultiPolygon(Polygons<'a>),
}

/// The rings of a polygon, outer ring first, as arcs.
#[derive(Clone, Debug)]
pub struct Rings<'a> {
    arcs: &'a Arcs,
    chains: Range<usize>,
}

/// The polygons of a multipolygon.
#[derive(Clone, Debug)]
pub struct Polygons<'a> {
    arcs: &'a Arcs,
    polygons: slice::Iter<'a, Range<usize>>,
}

impl<'a> Shape<'a> {
    pub(crate) fn polygons(&self) -> impl Iterator<Item = Rings<'a>> + use<'a> {
        let (one, more) = match self.clone() {
            Self::Polygon(rings) => (Some(rings), None),
            Self::MultiPolygon(polygons) => (None, Some(polygons)),
            Self::Point(_) | Self::LineString(_) => (None, None),
        };
        one.into_iter().chain(more.into_iter().flatten())
    }
}

impl<'a> Iterator for Rings<'a> {
    type Item = &'a [ArcIndex];

    fn next(&mut self) -> Option<&'a [ArcIndex]> {
        self.chains.next().map(|chain| self.arcs.chain_arcs(chain))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.chains.size_hint()
    }
}

impl ExactSizeIterator for Rings<'_> {}

impl<'a> Iterator for Polygons<'a> {
    type Item = Rings<'a>;

    fn next(&mut self) -> Option<Rings<'a>> {
        self.polygons.next().map(|chains| Rings { arcs: self.arcs, chains: chains.clone() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.polygons.size_hint()
    }
}

impl ExactSizeIterator for Polygons<'_> {}

/// The geometries of a topology as indices of arcs. The nodes of the arcs are in [`Chains`](super::chains::Chains).
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    pub(super) outlines: Vec<Outline>,
    pub(super) polygons: Vec<Range<usize>>,
    pub(super) arcs: Arcs,
}

#[derive(Clone, Debug)]
pub(super) enum Outline {
    Point(Node),
    LineString(usize),
    Polygon(usize),
    MultiPolygon(Range<usize>),
}

impl Shapes {
    pub(super) fn len(&self) -> usize {
        self.outlines.len()
    }

    pub(crate) fn get(&self, index: usize) -> Shape<'_> {
        let arcs = &self.arcs;
        match &self.outlines[index] {
            Outline::Point(node) => Shape::Point(*node),
            Outline::LineString(chain) => Shape::LineString(arcs.chain_arcs(*chain)),
            Outline::Polygon(at) => Shape::Polygon(Rings { arcs, chains: self.polygons[*at].clone() }),
            Outline::MultiPolygon(all) => {
                Shape::MultiPolygon(Polygons { arcs, polygons: self.polygons[all.clone()].iter() })
            }
        }
    }
}
