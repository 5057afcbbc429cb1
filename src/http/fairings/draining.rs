use rocket::tokio::sync::watch;

/// Whether the service is about to end. From then on, every response closes its connection. Clones share the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draining(watch::Sender<bool>);

impl Draining {
    /// Marks the service as about to end.
    pub(crate) fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Returns whether the service is about to end.
    #[must_use]
    pub(crate) fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Resolves when the service is about to end.
    pub(crate) async fn begun(&self) {
        // The channel is open, because the sender is a part of this value.
        drop(self.0.subscribe().wait_for(|begun| *begun).await);
    }
}
