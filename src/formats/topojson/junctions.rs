use super::grid::NodeId;

/// Whether a chain may begin elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainKind {
    /// Begins and ends where it does, even when both are the same place.
    Line,
    /// Closed; may be turned to begin at any of its nodes.
    Ring,
}

/// No node: the neighbour of a node that was not visited.
const NONE: NodeId = NodeId::MAX;

/// Finds which nodes are junctions, chain after chain.
///
/// A junction is a node at which chains part: through which one chain passes between other neighbours
/// than another, or at which a line ends. Between junctions chains are either the same or apart, which is
/// what makes it right to cut them there and nowhere else.
///
/// A chain that touches itself makes no junction there, as the reference implementation has it: lines are told
/// apart from lines, and rings from lines and rings.
#[derive(Debug, Default)]
pub(super) struct Junctions {
    /// Whether each node is a junction, by number.
    pub(super) found: Vec<bool>,
    passages: Vec<Passage>,
}

/// How chains passed through a node.
#[derive(Clone, Copy, Debug)]
struct Passage {
    /// Between which nodes the first chain passed.
    neighbours: [NodeId; 2],
    /// The last chain that passed.
    visited_by: u32,
}

impl Junctions {
    /// The nodes between which the first chain passed that came through this one.
    pub(super) fn neighbours(&self, node: NodeId) -> [NodeId; 2] {
        self.passages.get(node as usize).map_or([NONE; 2], |passage| passage.neighbours)
    }

    /// Follows the next chain, which leads through the first `nodes` nodes only.
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
