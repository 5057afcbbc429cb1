use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::Method;
use rocket::{Request, Response};

use super::Sources;
use crate::http::fairings::Subject;

/// Name of the heartbeat route.
const HEARTBEAT: &str = "send_heartbeat";

/// Records activity of a source whenever a write request with the source's credential succeeds.
///
/// Ignores the heartbeat route: that route records one named source, but this fairing records every source with the subject.
#[derive(Clone, Debug)]
pub(crate) struct ActivityRecorder(Sources);

impl ActivityRecorder {
    #[must_use]
    pub(crate) fn new(sources: Sources) -> Self {
        Self(sources)
    }
}

#[rocket::async_trait]
impl Fairing for ActivityRecorder {
    fn info(&self) -> Info {
        Info { name: "Signs of life", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        let is_write =
            matches!(request.method(), Method::Put | Method::Post | Method::Delete | Method::Patch);
        let is_heartbeat = || request.route().is_some_and(|route| route.name.as_deref() == Some(HEARTBEAT));
        if is_write
            && response.status().class().is_success()
            && !is_heartbeat()
            && let Some(subject) = Subject::for_request(request)
        {
            self.0.record_subject(subject);
        }
    }
}
