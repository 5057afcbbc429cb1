use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that cancels long work when no request waits for its result any more. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct CancelFlag(Arc<AtomicBool>);

/// Error for work that was cancelled because no request waits for its result any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no request waits for it any more")]
pub struct Cancelled;

impl CancelFlag {
    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails once the work is cancelled. Costs about a nanosecond.
    pub(crate) fn check(&self) -> Result<(), Cancelled> {
        if self.0.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }
}
