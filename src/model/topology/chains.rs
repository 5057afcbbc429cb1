use std::ops::Range;

use geo::LineString;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::grid::{Grid, Node, NodeId};
use super::junctions::{ChainKind, Junctions};
use super::winding::Winding;

#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) kind: ChainKind,
    /// The nodes of the chain. In a ring, the last node equals the first.
    pub(super) span: Range<usize>,
}

#[derive(Debug)]
pub(super) struct Lines {
    list: Vec<Chain>,
    positions: Vec<Node>,
}

impl Lines {
    pub(super) fn with_capacity(positions: usize) -> Self {
        Self { list: Vec::new(), positions: Vec::with_capacity(positions) }
    }

    pub(super) fn add_line(&mut self, line: &LineString<f64>, grid: &Grid) -> usize {
        self.add(ChainKind::Line, line, grid)
    }

    /// Adds a ring and returns its number. Reverses the ring if it has the opposite winding.
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

    /// Adds a chain and returns its number. Merges consecutive equal nodes.
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
        // Gives a collapsed shape the number of positions that its type requires, like the reference implementation of TopoJSON.
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

/// The lines and rings of all shapes. `path` has the numbers of their nodes, and `nodes` has each distinct node once.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub(super) list: Vec<Chain>,
    pub(super) path: Vec<NodeId>,
    pub(super) nodes: Vec<Node>,
}

impl Chains {
    /// Numbers the distinct nodes, and returns which of them are junctions.
    pub(super) fn join(lines: Lines) -> (Self, Vec<bool>) {
        let Lines { list, positions } = lines;
        // Two areas share most borders, so about half of the positions are distinct.
        let mut nodes: IndexSet<Node, FxBuildHasher> =
            IndexSet::with_capacity_and_hasher(positions.len() / 2, FxBuildHasher);
        let mut junctions = Junctions::default();
        let mut path: Vec<NodeId> = Vec::with_capacity(positions.len());
        for (number, chain) in list.iter().enumerate() {
            let mut before = None;
            for &node in &positions[chain.span.clone()] {
                // Tries the next node of an earlier chain first, because chains mostly share whole borders: this saves lookups.
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
