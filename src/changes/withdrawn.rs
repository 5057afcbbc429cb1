use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stores::Revision;

/// The newest revision of the reports at which this server knows that a report was hidden or erased. Data of an earlier
/// revision may have that report, so it must not be returned any more, even if the store is away. Clones share the value.
#[derive(Clone, Debug, Default)]
pub(crate) struct WithdrawnRevision(Arc<AtomicU64>);

impl WithdrawnRevision {
    /// Notes that the reports of a revision are without those that were hidden or erased.
    pub(crate) fn note(&self, without: Revision) {
        self.0.fetch_max(without.0, Ordering::SeqCst);
    }

    /// Returns whether the reports of a revision may have one that was hidden or erased since.
    #[must_use]
    pub(crate) fn is_in(&self, revision: Revision) -> bool {
        revision.0 < self.0.load(Ordering::SeqCst)
    }
}
