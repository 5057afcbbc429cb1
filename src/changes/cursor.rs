use std::fmt;
use std::str::FromStr;

use crate::model::digits;
use crate::stores::{Resource, Revision};

/// How far a client has read.
///
/// Its text is opaque to clients. A later cursor is not smaller on any revision, unless the epoch is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cursor {
    /// Identifies the counting of revisions; another database counts anew.
    pub(crate) epoch: u64,
    /// The revision of floods.
    pub(crate) floods: Revision,
    /// The revision of reports.
    pub(crate) reports: Revision,
    /// The revision of gauges.
    pub(crate) gauges: Revision,
    /// The revision of places.
    pub(crate) places: Revision,
}

/// The error for a text that is not a [`Cursor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a cursor from an earlier response")]
pub(crate) struct InvalidCursor;

impl Cursor {
    /// Returns a cursor with these revisions, in the order floods, reports, gauges, places.
    #[must_use]
    pub(crate) fn new(epoch: u64, [floods, reports, gauges, places]: [Revision; 4]) -> Self {
        Self { epoch, floods, reports, gauges, places }
    }

    /// The resources whose revisions it has, in their order.
    pub(crate) const RESOURCES: [Resource; 4] =
        [Resource::Floods, Resource::Reports, Resource::Gauges, Resource::Places];

    /// Returns the revisions, in the order of [`RESOURCES`](Self::RESOURCES).
    #[must_use]
    pub(crate) fn revisions(self) -> [Revision; 4] {
        [self.floods, self.reports, self.gauges, self.places]
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.epoch)?;
        self.revisions().iter().try_for_each(|Revision(revision)| write!(f, ".{revision}"))
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let (epoch, revisions) = text.split_once('.').ok_or(InvalidCursor)?;
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if epoch.len() != 16 || !epoch.bytes().all(is_hex) {
            return Err(InvalidCursor);
        }
        let epoch = u64::from_str_radix(epoch, 16).map_err(|_| InvalidCursor)?;
        let revision = |text: &str| digits(text).filter(|_| text.len() <= 18).map(Revision);
        let revisions: Option<Vec<_>> = revisions.split('.').map(revision).collect();
        let revisions = revisions.and_then(|all| all.try_into().ok()).ok_or(InvalidCursor)?;
        Ok(Self::new(epoch, revisions))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_reads_back(epoch: u64, revisions in prop::array::uniform4(0..1_000_000_000_000_000_000_u64)) {
            let cursor = Cursor::new(epoch, revisions.map(Revision));
            prop_assert_eq!(cursor.to_string().parse(), Ok(cursor));
            let longer = format!("{cursor}.1");
            prop_assert!(longer.parse::<Cursor>().is_err());
        }
    }
}
