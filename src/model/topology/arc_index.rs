use serde::{Serialize, Serializer};

/// A use of an arc: its index, or the one's complement of the index if the arc is followed backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArcIndex(i32);

impl ArcIndex {
    pub(super) fn forwards(arc: usize) -> Self {
        // The number of arcs in memory is far below i32::MAX: each has a position or a border of its own, and so takes
        // more than 16 bytes.
        Self(arc as i32)
    }

    /// Returns the same arc in the other direction.
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

    /// Returns the number that represents the use in a document.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    /// Returns a use of another arc, in the same direction.
    pub(crate) fn with_arc(self, arc: usize) -> Self {
        if self.is_reversed() { Self::forwards(arc).reversed() } else { Self::forwards(arc) }
    }
}

impl Serialize for ArcIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
