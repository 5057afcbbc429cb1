use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stores::Revision;

/// The revision of the reports at which the last report is gone that this server knows to be hidden or erased. Responses
/// with reports of an earlier revision must not be returned, whatever happens to the store. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Withdrawn(Arc<AtomicU64>);

impl Withdrawn {
    /// Notes that reports are gone at a revision.
    pub fn note(&self, gone: Revision) {
        self.0.fetch_max(gone.0, Ordering::SeqCst);
    }

    /// Returns whether data of a revision may have a report that is gone.
    #[must_use]
    pub fn is_in(&self, revision: Revision) -> bool {
        revision.0 < self.0.load(Ordering::SeqCst)
    }
}
