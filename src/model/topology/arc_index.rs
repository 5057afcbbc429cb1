use serde::{Serialize, Serializer};

/// A use of an arc: its index, or the one's complement of the index if reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArcIndex(i32);

impl ArcIndex {
    pub(super) fn forwards(arc: usize) -> Self {
        // The number of arcs in memory is far below i32::MAX, because each takes more than 16 bytes.
        Self(arc as i32)
    }

    #[must_use]
    pub(crate) fn reversed(self) -> Self {
        Self(!self.0)
    }

    /// Returns the index of the arc.
    #[must_use]
    pub fn arc(self) -> usize {
        let index = if self.is_reversed() { !self.0 } else { self.0 };
        index as usize
    }

    /// Returns whether the arc is followed backwards.
    #[must_use]
    pub fn is_reversed(self) -> bool {
        self.0 < 0
    }

    /// Returns the number in TopoJSON documents.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    pub(crate) fn with_arc(self, arc: usize) -> Self {
        if self.is_reversed() { Self::forwards(arc).reversed() } else { Self::forwards(arc) }
    }
}

impl Serialize for ArcIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
