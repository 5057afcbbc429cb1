use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::accept::Accept;
use crate::error::Problem;
use crate::openapi::{Interface, Operation, Part};

/// Whether a client wants a page for people more than data, by its `Accept`, as browsers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantsPage(pub bool);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for WantsPage {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let accept = Accept::new(request.headers().get("Accept"));
        Outcome::Success(Self(accept.weight(["text/html"]) > accept.weight(["application/json"])))
    }
}

impl Part for WantsPage {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}
