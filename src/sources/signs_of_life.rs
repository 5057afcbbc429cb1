use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::Method;
use rocket::{Request, Response};

use super::Sources;
use crate::http::fairings::Subject;

/// The route that notes one source itself.
const HEARTBEAT: &str = "send_heartbeat";

/// Notes that a source is heard when a write with its credential is accepted, on whatever route.
///
/// Heartbeats are left out: their route marks exactly one source, this fairing would mark every source of the subject.
#[derive(Clone, Debug)]
pub(crate) struct SignsOfLife(Sources);

impl SignsOfLife {
    /// Makes a fairing that notes it in `sources`.
    #[must_use]
    pub(crate) fn new(sources: Sources) -> Self {
        Self(sources)
    }
}

#[rocket::async_trait]
impl Fairing for SignsOfLife {
    fn info(&self) -> Info {
        Info { name: "Signs of life", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        let writes = matches!(request.method(), Method::Put | Method::Post | Method::Delete | Method::Patch);
        let is_heartbeat = || request.route().is_some_and(|route| route.name.as_deref() == Some(HEARTBEAT));
        if writes
            && response.status().class().is_success()
            && !is_heartbeat()
            && let Some(subject) = Subject::for_request(request)
        {
            self.0.hear_subject(subject);
        }
    }
}
