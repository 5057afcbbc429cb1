use std::ops::Range;

use rustc_hash::FxHashMap;

use super::arc_index::ArcIndex;
use super::chains::{Chain, Chains};
use super::grid::NodeId;
use super::junctions::ChainKind;

/// The arcs of a topology, and the arcs that each chain uses.
#[derive(Debug, Default)]
pub(super) struct Arcs {
    /// The nodes of each arc, as a span of [`Chains::path`].
    pub(super) spans: Vec<Range<usize>>,
    uses: Vec<ArcIndex>,
    ends: Vec<usize>,
}

impl Arcs {
    /// Cuts all chains at the junctions, and stores equal pieces once. Rotates rings in `chains` to begin at a junction, if any.
    pub(super) fn cut(chains: &mut Chains, junction: &[bool]) -> Self {
        let Chains { list, path, nodes } = chains;
        let mut cutter = Cutter {
            arcs: Self::default(),
            at_node: vec![Vec::new(); nodes.len()],
            edges: FxHashMap::default(),
        };
        cutter.arcs.ends.reserve(list.len());
        for chain in list.iter() {
            let uncut = chain.kind == ChainKind::Ring && !rotate(&mut path[chain.span.clone()], junction);
            if uncut {
                cutter.add_ring(path, chain.span.clone());
            } else {
                cutter.add_pieces(path, chain, junction);
            }
            cutter.arcs.ends.push(cutter.arcs.uses.len());
        }
        cutter.arcs
    }

    pub(super) fn chain_arcs(&self, chain: usize) -> &[ArcIndex] {
        let start = chain.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.uses[start..self.ends[chain]]
    }
}

struct Cutter {
    arcs: Arcs,
    /// Each arc with inner nodes, stored at one of them. Such a node lies on one arc only, except where a line touches itself.
    at_node: Vec<Vec<ArcIndex>>,
    /// Arcs without inner nodes, by their two ends in ascending order.
    edges: FxHashMap<[NodeId; 2], ArcIndex>,
}

impl Cutter {
    fn add_pieces(&mut self, path: &[NodeId], chain: &Chain, junction: &[bool]) {
        let mut start = chain.span.start;
        for end in chain.span.clone().skip(1) {
            let last = end + 1 == chain.span.end;
            if last || junction[path[end] as usize] {
                self.add_piece(path, start..end + 1);
                start = end;
            }
        }
    }

    /// Adds a use of the arc of a piece. Pieces with the same nodes, in either direction, share an arc.
    fn add_piece(&mut self, path: &[NodeId], span: Range<usize>) {
        match path[span.clone()] {
            [first, last] => {
                let edge = [first.min(last), first.max(last)];
                let stored = self.edges.get(&edge).copied();
                let arc = stored.unwrap_or_else(|| {
                    let arc = self.store(span);
                    self.edges.insert(edge, if first <= last { arc } else { arc.reversed() });
                    arc
                });
                let along = if stored.is_some() && first > last { arc.reversed() } else { arc };
                self.arcs.uses.push(along);
            }
            [_, second, .., _] => {
                let before_last = path[span.end - 2];
                let arc = self.find_stored(path, span.clone(), second, same_piece).unwrap_or_else(|| {
                    let arc = self.store(span);
                    self.at_node[second as usize].push(arc);
                    if before_last != second {
                        self.at_node[before_last as usize].push(arc);
                    }
                    arc
                });
                self.arcs.uses.push(arc);
            }
            _ => {}
        }
    }

    /// Adds a use of the arc of a ring without junctions. Equal rings share an arc.
    fn add_ring(&mut self, path: &[NodeId], span: Range<usize>) {
        let Some(&least) = path[span.clone()].iter().min() else { return };
        let arc = self.find_stored(path, span.clone(), least, same_ring).unwrap_or_else(|| {
            let arc = self.store(span);
            self.at_node[least as usize].push(arc);
            arc
        });
        self.arcs.uses.push(arc);
    }

    /// Returns the arc stored under `node` that has the nodes of the span. `same` compares two pieces like [`same_piece`].
    fn find_stored(
        &self,
        path: &[NodeId],
        span: Range<usize>,
        node: NodeId,
        same: fn(&[NodeId], &[NodeId]) -> Option<bool>,
    ) -> Option<ArcIndex> {
        self.at_node[node as usize].iter().find_map(|&arc| {
            let other = &path[self.arcs.spans[arc.arc()].clone()];
            same(&path[span.clone()], other).map(|forwards| if forwards { arc } else { arc.reversed() })
        })
    }

    fn store(&mut self, span: Range<usize>) -> ArcIndex {
        let arc = ArcIndex::forwards(self.arcs.spans.len());
        self.arcs.spans.push(span);
        arc
    }
}

/// Rotates a closed ring to begin at its first junction. Returns false if the ring has no junction.
fn rotate(ring: &mut [NodeId], junction: &[bool]) -> bool {
    let Some(first) = ring.iter().position(|&node| junction[node as usize]) else { return false };
    if let Some(open) = ring.len().checked_sub(1) {
        ring[..open].rotate_left(first);
        ring[open] = ring[0];
    }
    true
}

/// Returns `Some(true)` for equal pieces in the same direction, `Some(false)` in opposite directions.
fn same_piece(piece: &[NodeId], other: &[NodeId]) -> Option<bool> {
    if piece.len() != other.len() {
        None
    } else if piece == other {
        Some(true)
    } else {
        piece.iter().eq(other.iter().rev()).then_some(false)
    }
}

/// Like [`same_piece`], but for rings, which may begin at different nodes.
fn same_ring(ring: &[NodeId], other: &[NodeId]) -> Option<bool> {
    let open = |ring: &[NodeId]| ring.len().saturating_sub(1);
    if open(ring) != open(other) {
        return None;
    }
    let (ring, other) = (&ring[..open(ring)], &other[..open(other)]);
    let starts = (0..other.len()).filter(|&start| other.get(start) == ring.first());
    starts.into_iter().find_map(|start| {
        let (before, from) = other.split_at(start);
        let forwards = from.iter().chain(before);
        let backwards = from.iter().take(1).chain(before.iter().rev()).chain(from.iter().skip(1).rev());
        if ring.iter().eq(forwards) {
            Some(true)
        } else if ring.iter().eq(backwards) {
            Some(false)
        } else {
            None
        }
    })
}
