use std::ops::Range;

use geo::{Coord, LineString};
use rustc_hash::FxHashMap;

use super::grid::{Grid, Node};

/// The number of a node: equal positions have equal numbers.
pub(super) type NodeId = u32;

/// A line or a ring: a run of the nodes in [`Chains::path`].
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) kind: ChainKind,
    /// Where its nodes stand, the last included; of a ring the last equals the first.
    pub(super) span: Range<usize>,
}

/// Whether a chain may begin elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainKind {
    /// Begins and ends where it does, even when both are the same place.
    Line,
    /// Closed; may be turned to begin at any of its nodes.
    Ring,
}

/// All lines and rings of a layer, on the grid.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub(super) list: Vec<Chain>,
    /// The nodes of all chains one after the other, by number.
    pub(super) path: Vec<NodeId>,
    /// The nodes by number.
    pub(super) nodes: Vec<Node>,
    numbers: FxHashMap<Node, NodeId>,
}

impl Chains {
    /// Adds a line, without positions that fall on the node before them, and answers its place in `list`.
    pub(super) fn add(&mut self, kind: ChainKind, line: &LineString<f64>, grid: &Grid) -> usize {
        let start = self.path.len();
        for &position in line.coords() {
            let id = self.number(position, grid);
            if self.path[start..].last() != Some(&id) {
                self.path.push(id);
            }
        }
        // A shape that collapsed to less keeps the positions its type asks for, as the reference
        // implementation has it.
        let least = match kind {
            ChainKind::Line => 2,
            ChainKind::Ring => 4,
        };
        let (length, first) = (self.path.len() - start, self.path.get(start).copied());
        self.path.extend(first.into_iter().cycle().take(least - length.min(least)));
        self.list.push(Chain { kind, span: start..self.path.len() });
        self.list.len() - 1
    }

    fn number(&mut self, position: Coord<f64>, grid: &Grid) -> NodeId {
        let node = grid.node(position);
        // The number of positions in memory is far below u32::MAX: each takes 16 bytes.
        let next = self.nodes.len() as NodeId;
        let id = *self.numbers.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }
}
