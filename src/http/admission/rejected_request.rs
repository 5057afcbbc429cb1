//! Responds to rejected requests with 429, or with a redirect to HTTPS.

use rocket::http::Status;
use rocket::request::Request;
use rocket::response::Response;
use rocket::route::{Handler, Outcome};
use rocket::{Data, Route};

use super::unsupported_method::METHODS;
use super::{Admission, RejectionResponse};
use crate::http::error::Problem;

#[must_use]
pub(crate) fn rejection_routes() -> Vec<Route> {
    METHODS.into_iter().map(|method| Route::new(method, Admission::REJECTED_PATH, RejectedRequest)).collect()
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
            // Reached only if a client requests this path itself.
            None => Outcome::from(request, Problem::not_found("this resource")),
        }
    }
}
