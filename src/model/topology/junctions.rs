use super::grid::NodeId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainKind {
    /// A line. It is cut at both ends, even if both ends are the same place.
    Line,
    /// A closed ring. It may be rotated to begin at any of its nodes.
    Ring,
}

const NONE: NodeId = NodeId::MAX;

/// Finds the junctions, chain after chain.
///
/// A junction is a node at which chains part: two chains pass through it with different neighbours, or a line ends there. Between
/// junctions, chains are either equal or disjoint, so they are cut only at junctions.
///
/// A node where a chain touches only itself is not a junction, as in the reference implementation of TopoJSON.
#[derive(Debug, Default)]
pub(super) struct Junctions {
    pub(super) found: Vec<bool>,
    passages: Vec<Passage>,
}

/// The neighbours of a node in the chain that first passed it, and the chain that last passed it.
#[derive(Clone, Copy, Debug)]
struct Passage {
    neighbours: [NodeId; 2],
    visited_by: u32,
}

impl Junctions {
    pub(super) fn neighbours(&self, node: NodeId) -> [NodeId; 2] {
        self.passages.get(node as usize).map_or([NONE; 2], |passage| passage.neighbours)
    }

    /// Follows the next chain. `nodes` is the number of nodes so far, including the nodes of this chain.
    pub(super) fn pass_along(&mut self, chain: u32, kind: ChainKind, path: &[NodeId], nodes: usize) {
        self.found.resize(nodes, false);
        self.passages.resize(nodes, Passage { neighbours: [NONE; 2], visited_by: u32::MAX });
        match (kind, path) {
            (ChainKind::Line, &[first, .., last]) => {
                self.found[first as usize] = true;
                self.found[last as usize] = true;
            }
            (ChainKind::Ring, &[first, second, .., before_last, _]) => {
                self.pass(chain, before_last, first, second);
            }
            _ => {}
        }
        for passage in path.windows(3) {
            self.pass(chain, passage[0], passage[1], passage[2]);
        }
    }

    /// Marks the node as a junction if another chain has passed it between other neighbours.
    fn pass(&mut self, chain: u32, before: NodeId, node: NodeId, after: NodeId) {
        let at = node as usize;
        let passage = &mut self.passages[at];
        if std::mem::replace(&mut passage.visited_by, chain) == chain {
            return;
        }
        match passage.neighbours {
            [NONE, _] => passage.neighbours = [before, after],
            known if known == [before, after] || known == [after, before] => {}
            _ => self.found[at] = true,
        }
    }
}
