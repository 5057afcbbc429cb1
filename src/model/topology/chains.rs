use std::ops::Range;

use geo::LineString;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::grid::{Grid, Node, NodeId};
use super::junctions::{ChainKind, Junctions};
use super::winding::Winding;

/// A line or a ring: a range of the positions of all.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) kind: ChainKind,
    /// Where its nodes are, including the last one, which equals the first in a ring.
    pub(super) span: Range<usize>,
}

/// All lines and rings of a layer laid out on the grid, one after the other.
#[derive(Debug)]
pub(super) struct Lines {
    list: Vec<Chain>,
    positions: Vec<Node>,
}

impl Lines {
    /// Returns no lines yet, with capacity for this number of positions.
    pub(super) fn with_capacity(positions: usize) -> Self {
        Self { list: Vec::new(), positions: Vec::with_capacity(positions) }
    }

    /// Adds a line and returns its number.
    pub(super) fn add_line(&mut self, line: &LineString<f64>, grid: &Grid) -> usize {
        self.add(ChainKind::Line, line, grid)
    }

    /// Adds a ring, reversed if it runs in the other direction on the grid, and returns its number.
    pub(super) fn add_ring(&mut self, ring: &LineString<f64>, winding: Winding, grid: &Grid) -> usize {
        let start = self.positions.len();
        let number = self.add(ChainKind::Ring, ring, grid);
        let nodes = &mut self.positions[start..];
        let found = Winding::from_ring(nodes.iter().map(|&node| grid.position(node)));
        if found.is_some_and(|found| found != winding) {
            nodes.reverse();
        }
        number
    }

    /// Adds a line, without positions that have the same node as the position before.
    fn add(&mut self, kind: ChainKind, line: &LineString<f64>, grid: &Grid) -> usize {
        let start = self.positions.len();
        let mut last = None;
        for &position in &line.0 {
            let node = grid.node(position);
            if last != Some(node) {
                self.positions.push(node);
            }
            last = Some(node);
        }
        // A shape that collapsed keeps the number of positions that its type requires, as in the reference implementation.
        let least = match kind {
            ChainKind::Line => 2,
            ChainKind::Ring => 4,
        };
        let (length, first) = (self.positions.len() - start, self.positions.get(start).copied());
        self.positions.extend(first.into_iter().cycle().take(least - length.min(least)));
        self.list.push(Chain { kind, span: start..self.positions.len() });
        self.list.len() - 1
    }
}

/// All lines and rings of a layer; equal positions have the same number.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub(super) list: Vec<Chain>,
    /// The nodes of all chains one after the other, by number.
    pub(super) path: Vec<NodeId>,
    /// The nodes by number.
    pub(super) nodes: Vec<Node>,
}

impl Chains {
    /// Numbers the nodes of the lines and, in the same pass, finds which of them are junctions.
    pub(super) fn join(lines: Lines) -> (Self, Vec<bool>) {
        let Lines { list, positions } = lines;
        // Two areas share most borders.
        let mut nodes: IndexSet<Node, FxBuildHasher> =
            IndexSet::with_capacity_and_hasher(positions.len() / 2, FxBuildHasher);
        let mut junctions = Junctions::default();
        let mut path: Vec<NodeId> = Vec::with_capacity(positions.len());
        for (number, chain) in list.iter().enumerate() {
            let mut before = None;
            for &node in &positions[chain.span.clone()] {
                // A border that came before is mostly followed to its end, so no lookup is needed.
                let followed = before.and_then(|before| {
                    let neighbours = junctions.neighbours(before);
                    neighbours.into_iter().find(|&id| nodes.get_index(id as usize) == Some(&node))
                });
                let id = followed.unwrap_or_else(|| nodes.insert_full(node).0 as NodeId);
                path.push(id);
                before = Some(id);
            }
            junctions.pass_along(number as u32, chain.kind, &path[chain.span.clone()], nodes.len());
        }
        (Self { list, path, nodes: nodes.into_iter().collect() }, junctions.found)
    }
}
