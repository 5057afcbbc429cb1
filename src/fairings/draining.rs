use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rocket::fairing::{Fairing, Info, Kind};
use rocket::{Request, Response};

/// Whether the service is about to end. From then on, every response closes its connection. Clones share the state.
#[derive(Clone, Debug, Default)]
pub struct Draining(Arc<AtomicBool>);

impl Draining {
    /// Marks the service as about to end.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the service is about to end.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[rocket::async_trait]
impl Fairing for Draining {
    fn info(&self) -> Info {
        Info { name: "Draining", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, _request: &'r Request<'_>, response: &mut Response<'r>) {
        if self.has_begun() {
            response.set_raw_header("Connection", "close");
        }
    }
}
