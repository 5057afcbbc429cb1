use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use rocket::tokio::sync::SetOnce;

/// A content in one coding, compressed once for all requests that wait for it.
#[derive(Debug, Default)]
pub(super) struct LazyEncoding {
    is_started: AtomicBool,
    /// `None` if compression does not save enough.
    result: SetOnce<Option<Bytes>>,
}

impl LazyEncoding {
    /// Returns `true` for the first caller only, which must compress the bytes and call [`finish`](Self::finish).
    pub(super) fn start(&self) -> bool {
        !self.is_started.swap(true, Ordering::Relaxed)
    }

    pub(super) fn finish(&self, bytes: Option<Bytes>) {
        drop(self.result.set(bytes));
    }

    pub(super) async fn wait(&self) {
        self.result.wait().await;
    }

    pub(super) fn is_finished(&self) -> bool {
        self.result.get().is_some()
    }

    pub(super) fn bytes(&self) -> Option<&Bytes> {
        self.result.get()?.as_ref()
    }
}
