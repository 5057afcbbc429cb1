use rocket::fairing::{Fairing, Info, Kind};
use rocket::{Request, Response};

use crate::random;

/// The id of a request: in its answer as `X-Request-Id` and in whatever is logged about it.
#[derive(Clone, Debug)]
pub struct RequestId(String);

impl RequestId {
    const HEADER: &'static str = "X-Request-Id";

    /// The id of this request, made when it is first asked for.
    pub fn of<'r>(request: &'r Request<'_>) -> &'r Self {
        // Without random numbers requests go on, with ids that do not tell them apart.
        request.local_cache(|| Self(random::hex::<8>().unwrap_or_else(|_| "0".repeat(16))))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds the id to the answer.
    pub fn add_to(&self, response: &mut Response<'_>) {
        response.set_raw_header(Self::HEADER, self.0.clone());
    }

    /// Adds the id of every request to its answer.
    #[must_use]
    pub fn fairing() -> impl Fairing {
        AddRequestId
    }
}

struct AddRequestId;

#[rocket::async_trait]
impl Fairing for AddRequestId {
    fn info(&self) -> Info {
        Info { name: "Request id", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        RequestId::of(request).add_to(response);
    }
}
