use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stores::Revision;

/// The revision of reports at which this server last read of a hidden or erased report. Data of an older revision may contain
/// that report, so the server must not return such data, even while the store is unavailable. Clones share the value.
#[derive(Clone, Debug, Default)]
pub(crate) struct WithdrawnRevision(Arc<AtomicU64>);

impl WithdrawnRevision {
    /// Raises the revision: data of the revision `without` no longer contains the removed reports.
    pub(crate) fn note(&self, without: Revision) {
        self.0.fetch_max(without.0, Ordering::SeqCst);
    }

    /// Whether data of a revision may contain a report that was removed later.
    #[must_use]
    pub(crate) fn is_before(&self, revision: Revision) -> bool {
        revision.0 < self.0.load(Ordering::SeqCst)
    }
}
