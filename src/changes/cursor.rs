use std::fmt;
use std::str::FromStr;

use crate::model::digits;
use crate::stores::{Resource, Revision};

/// The position of a client in the sequence of changes. Opaque to clients. Within an epoch, its revisions never decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cursor {
    /// Identifies the sequence of revisions; another database has another epoch.
    pub(crate) epoch: u64,
    pub(crate) floods: Revision,
    pub(crate) reports: Revision,
    pub(crate) gauges: Revision,
    pub(crate) places: Revision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a cursor from an earlier response")]
pub(crate) struct InvalidCursor;

impl Cursor {
    /// Creates a cursor from the revisions, in the order of [`RESOURCES`](Self::RESOURCES).
    #[must_use]
    pub(crate) fn new(epoch: u64, [floods, reports, gauges, places]: [Revision; 4]) -> Self {
        Self { epoch, floods, reports, gauges, places }
    }

    pub(crate) const RESOURCES: [Resource; 4] =
        [Resource::Floods, Resource::Reports, Resource::Gauges, Resource::Places];

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
        let revisions = revisions.and_then(|list| list.try_into().ok()).ok_or(InvalidCursor)?;
        Ok(Self::new(epoch, revisions))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_round_trips(epoch: u64, revisions in prop::array::uniform4(0..1_000_000_000_000_000_000_u64)) {
            let cursor = Cursor::new(epoch, revisions.map(Revision));
            prop_assert_eq!(cursor.to_string().parse(), Ok(cursor));
            let longer = format!("{cursor}.1");
            prop_assert!(longer.parse::<Cursor>().is_err());
        }
    }
}
