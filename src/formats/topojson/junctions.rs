use super::chains::{ChainKind, Chains, NodeId};

/// No node: the neighbour of a node that was not visited.
const NONE: NodeId = NodeId::MAX;

/// Which nodes are junctions, by number.
///
/// A junction is a node at which chains part: through which one chain passes between other neighbours
/// than another, or at which a line ends. Between junctions chains are either the same or apart, which is
/// what makes it right to cut them there and nowhere else.
///
/// A chain that touches itself makes no junction there, as the reference implementation has it: lines are told
/// apart from lines, and rings from lines and rings.
pub(super) fn find(chains: &Chains) -> Vec<bool> {
    let mut nodes = Nodes {
        junction: vec![false; chains.nodes.len()],
        neighbours: vec![[NONE; 2]; chains.nodes.len()],
        visited_by: vec![usize::MAX; chains.nodes.len()],
    };
    for (number, chain) in chains.list.iter().enumerate() {
        let path = &chains.path[chain.span.clone()];
        match (chain.kind, path) {
            (ChainKind::Line, &[first, .., last]) => {
                nodes.junction[first as usize] = true;
                nodes.junction[last as usize] = true;
            }
            (ChainKind::Ring, &[first, second, .., before_last, _]) => {
                nodes.pass(number, before_last, first, second);
            }
            _ => {}
        }
        for passage in path.windows(3) {
            nodes.pass(number, passage[0], passage[1], passage[2]);
        }
    }
    nodes.junction
}

struct Nodes {
    junction: Vec<bool>,
    /// Between which nodes the first chain passed.
    neighbours: Vec<[NodeId; 2]>,
    /// The last chain that passed.
    visited_by: Vec<usize>,
}

impl Nodes {
    fn pass(&mut self, chain: usize, before: NodeId, node: NodeId, after: NodeId) {
        let at = node as usize;
        if std::mem::replace(&mut self.visited_by[at], chain) == chain {
            return;
        }
        match self.neighbours[at] {
            [NONE, _] => self.neighbours[at] = [before, after],
            known if known == [before, after] || known == [after, before] => {}
            _ => self.junction[at] = true,
        }
    }
}
