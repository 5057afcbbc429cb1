use super::arc_index::ArcIndex;
use super::numbering::NodeId;

/// No entry.
const NONE: u32 = u32::MAX;

/// Arcs by node: for each node a list, which is mostly of none or one.
#[derive(Debug)]
pub(super) struct Filing {
    /// The first entry of each node.
    first: Vec<u32>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    arc: ArcIndex,
    next: u32,
}

impl Filing {
    /// Nothing is filed under any of the nodes below `count`.
    pub(super) fn for_nodes(count: usize) -> Self {
        Self { first: vec![NONE; count], entries: Vec::new() }
    }

    /// Files an arc under a node.
    pub(super) fn file(&mut self, node: NodeId, arc: ArcIndex) {
        // There are at most two entries for an arc, and fewer arcs than positions.
        let entry = self.entries.len() as u32;
        let next = std::mem::replace(&mut self.first[node as usize], entry);
        self.entries.push(Entry { arc, next });
    }

    /// The arcs filed under a node.
    pub(super) fn under(&self, node: NodeId) -> impl Iterator<Item = ArcIndex> {
        let entry = |at: u32| self.entries.get(at as usize);
        std::iter::successors(entry(self.first[node as usize]), move |last| entry(last.next))
            .map(|entry| entry.arc)
    }
}
