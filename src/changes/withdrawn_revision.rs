use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stores::Revision;

/// The newest revision of reports at which this server knows of a hidden or erased report. Older data may contain that report, so
/// it must not be returned any more, even if the store is unavailable. Clones share the value.
#[derive(Clone, Debug, Default)]
pub(crate) struct WithdrawnRevision(Arc<AtomicU64>);

impl WithdrawnRevision {
    /// Raises the revision: data of the revision `without` no longer contains the removed reports.
    pub(crate) fn note(&self, without: Revision) {
        self.0.fetch_max(without.0, Ordering::SeqCst);
    }

    /// Whether data of a revision may contain a report that was removed since.
    #[must_use]
    pub(crate) fn is_before(&self, revision: Revision) -> bool {
        revision.0 < self.0.load(Ordering::SeqCst)
    }
}
