use rocket::tokio::sync::watch;

/// Whether the server is about to shut down. From then on, every response closes its connection. Clones share the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draining(watch::Sender<bool>);

impl Draining {
    pub(crate) fn start(&self) {
        self.0.send_replace(true);
    }

    #[must_use]
    pub(crate) fn has_started(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn started(&self) {
        // Waiting cannot fail: the channel stays open, because this value holds its sender.
        drop(self.0.subscribe().wait_for(|started| *started).await);
    }
}
