use serde::{Serialize, Serializer};

/// A use of an arc: its index, or the one's complement of it when the arc is followed backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArcIndex(i64);

impl ArcIndex {
    pub(super) fn forwards(arc: usize) -> Self {
        // The number of arcs in memory is far below i64::MAX.
        Self(arc as i64)
    }

    pub(super) fn reversed(self) -> Self {
        Self(!self.0)
    }

    /// The index of the arc.
    #[must_use]
    pub fn arc(self) -> usize {
        let index = if self.is_reversed() { !self.0 } else { self.0 };
        index as usize
    }

    /// Whether the arc is followed backwards.
    #[must_use]
    pub fn is_reversed(self) -> bool {
        self.0 < 0
    }
}

impl Serialize for ArcIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
