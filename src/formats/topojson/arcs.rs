use std::ops::Range;

use rustc_hash::FxHashMap;

use super::arc_index::ArcIndex;
use super::chains::{Chain, ChainKind, Chains, NodeId};

/// The arcs of a topology: pieces of chains, each kept once.
#[derive(Debug, Default)]
pub(super) struct Arcs {
    /// The arcs as spans of [`Chains::path`].
    pub(super) spans: Vec<Range<usize>>,
    /// The arcs that make up each chain, chain after chain.
    pub(super) uses: Vec<ArcIndex>,
    /// Where the arcs of each chain end in `uses`.
    pub(super) ends: Vec<usize>,
    /// Arcs by their first two nodes, from both ends. Two arcs can share those and still differ, where a
    /// chain touches itself.
    by_start: FxHashMap<[NodeId; 2], Vec<ArcIndex>>,
    /// Rings that meet no junction, by their least node.
    rings: FxHashMap<NodeId, Vec<ArcIndex>>,
}

impl Arcs {
    /// Cuts all chains at the junctions and keeps equal pieces once.
    ///
    /// Turns rings in `chains` so that they begin at a junction, where they meet one.
    pub(super) fn cut(chains: &mut Chains, junction: &[bool]) -> Self {
        let mut arcs = Self::default();
        let Chains { list, path, .. } = chains;
        for chain in list.iter() {
            let uncut = chain.kind == ChainKind::Ring && !turn(&mut path[chain.span.clone()], junction);
            if uncut {
                arcs.add_ring(path, chain.span.clone());
            } else {
                arcs.add_pieces(path, chain, junction);
            }
            arcs.ends.push(arcs.uses.len());
        }
        arcs
    }

    /// The arcs that make up a chain.
    pub(super) fn of_chain(&self, chain: usize) -> &[ArcIndex] {
        let start = chain.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.uses[start..self.ends[chain]]
    }

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

    fn add_piece(&mut self, path: &[NodeId], span: Range<usize>) {
        let piece = &path[span.clone()];
        let [first, second, ..] = *piece else { return };
        let same = self.by_start.get(&[first, second]).into_iter().flatten().find(|known| {
            let other = &path[self.spans[known.arc()].clone()];
            if known.is_reversed() { piece.iter().eq(other.iter().rev()) } else { piece == other }
        });
        if let Some(&same) = same {
            self.uses.push(same);
            return;
        }
        let arc = self.keep(span);
        self.by_start.entry([first, second]).or_default().push(arc);
        if let [.., before_last, last] = *piece {
            self.by_start.entry([last, before_last]).or_default().push(arc.reversed());
        }
    }

    fn add_ring(&mut self, path: &[NodeId], span: Range<usize>) {
        let ring = &path[span.clone()];
        let Some(&least) = ring.iter().min() else { return };
        let known = self.rings.get(&least).into_iter().flatten();
        let same = known.copied().find_map(|known| {
            let other = &path[self.spans[known.arc()].clone()];
            same_ring(ring, other).map(|forwards| if forwards { known } else { known.reversed() })
        });
        if let Some(same) = same {
            self.uses.push(same);
            return;
        }
        let arc = self.keep(span);
        self.rings.entry(least).or_default().push(arc);
    }

    fn keep(&mut self, span: Range<usize>) -> ArcIndex {
        let arc = ArcIndex::forwards(self.spans.len());
        self.spans.push(span);
        self.uses.push(arc);
        arc
    }
}

/// Turns a ring to begin at its first junction; answers whether it has one.
fn turn(ring: &mut [NodeId], junction: &[bool]) -> bool {
    let Some(first) = ring.iter().position(|&node| junction[node as usize]) else { return false };
    if let Some(open) = ring.len().checked_sub(1) {
        ring[..open].rotate_left(first);
        ring[open] = ring[0];
    }
    true
}

/// Whether two rings are the same but for where they begin: `Some(true)` in the same direction, `Some(false)` in
/// opposite ones.
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
        // The start itself, then everything before it, backwards.
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
