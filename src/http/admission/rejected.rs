//! The responses to requests that are not admitted: 429, or a redirect to HTTPS.

use rocket::http::Status;
use rocket::request::Request;
use rocket::response::Response;
use rocket::route::{Handler, Outcome};
use rocket::{Data, Route};

use super::methods::METHODS;
use super::{Admission, RejectionResponse};
use crate::http::error::Problem;

/// Returns the routes for requests that are not admitted, to be mounted at the root.
#[must_use]
pub(crate) fn diverted() -> Vec<Route> {
    METHODS.into_iter().map(|method| Route::new(method, Admission::DIVERTED, RejectedRequest)).collect()
}

#[derive(Clone)]
struct RejectedRequest;

#[rocket::async_trait]
impl Handler for RejectedRequest {
    async fn handle<'r>(&self, request: &'r Request<'_>, _data: Data<'r>) -> Outcome<'r> {
        match RejectionResponse::for_request(request) {
            Some(RejectionResponse::TooMany(problem, _)) => Outcome::from(request, problem.clone()),
            Some(RejectionResponse::ToHttps(address)) => Outcome::Success(
                Response::build()
                    .status(Status::PermanentRedirect)
                    .raw_header("Location", address.clone())
                    .finalize(),
            ),
            // Only a client that sends this path itself gets here.
            None => Outcome::from(request, Problem::not_found("this resource")),
        }
    }
}
