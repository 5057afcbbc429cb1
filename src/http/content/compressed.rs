use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use rocket::tokio::sync::SetOnce;

/// A compressed form of a content, which is made once for all requests that wait for it.
#[derive(Debug, Default)]
pub(super) struct Compressed {
    is_begun: AtomicBool,
    /// The bytes once it is made; `None` if it is not worth sending.
    made: SetOnce<Option<Bytes>>,
}

impl Compressed {
    /// Returns whether this is the first call: only that caller makes the form.
    pub(super) fn begin(&self) -> bool {
        !self.is_begun.swap(true, Ordering::Relaxed)
    }

    /// Gives the form to all requests that wait. Only the first call counts.
    pub(super) fn finish(&self, bytes: Option<Bytes>) {
        drop(self.made.set(bytes));
    }

    /// Waits until the form is made.
    pub(super) async fn finished(&self) {
        self.made.wait().await;
    }

    pub(super) fn is_finished(&self) -> bool {
        self.made.get().is_some()
    }

    /// Returns the bytes if the form is made and worth sending.
    pub(super) fn bytes(&self) -> Option<&Bytes> {
        self.made.get()?.as_ref()
    }
}
