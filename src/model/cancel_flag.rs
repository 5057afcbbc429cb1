use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells long work to stop because nothing waits for it any more. Clones share the signal.
#[derive(Clone, Debug, Default)]
pub(crate) struct CancelFlag(Arc<AtomicBool>);

/// The work stopped because nothing waits for it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no request waits for it any more")]
pub struct Cancelled;

impl CancelFlag {
    /// Tells the work to stop.
    pub(crate) fn give(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails once nothing waits for the work any more. Costs about a nanosecond.
    pub(crate) fn check(&self) -> Result<(), Cancelled> {
        if self.0.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }
}
