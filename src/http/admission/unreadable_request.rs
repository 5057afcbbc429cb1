//! Responds to requests that Rocket could not read: the method is unknown, or the target has no path (`GET a:80`). For these,
//! Rocket runs no fairing; it calls the catcher of 400 with the parts that it could read.

use rocket::http::{Method, Status};
use rocket::request::Request;
use rocket::response::{Responder, Result};
use rocket::{Catcher, Route, catch, catchers};

use super::Admission;
use super::unsupported_method::allow_header;
use crate::http::error::Problem;
use crate::http::fairings::{ResponseHeaders, UnreadablePart, count_response};
use crate::http::managed::managed;
use crate::openapi::shape;

#[must_use]
pub(crate) fn unreadable_request_catchers() -> Vec<Catcher> {
    catchers![refuse]
}

/// Counts an unreadable request against the rate limit of its address, and rejects it. Renders any other 400 as usual.
#[catch(400)]
fn refuse(status: Status, request: &Request<'_>) -> CaughtRequest {
    match UnreadablePart::for_request(request) {
        None => CaughtRequest::Readable(Problem::from_status(status, request)),
        Some(part) => {
            let too_many = Admission::rate_limit_problem(request);
            CaughtRequest::Unreadable(too_many.unwrap_or_else(|| problem(request, part)))
        }
    }
}

enum CaughtRequest {
    Readable(Problem),
    Unreadable(Problem),
}

impl<'r> Responder<'r, 'static> for CaughtRequest {
    fn respond_to(self, request: &'r Request<'_>) -> Result<'static> {
        match self {
            Self::Readable(problem) => problem.respond_to(request),
            // The middleware takes these steps for all readable requests.
            Self::Unreadable(problem) => {
                let mut response = problem.respond_to(request)?;
                count_response(request, response.status(), 0);
                Admission::add_rate_limit_headers(request, &mut response);
                if let Ok(headers) = managed::<ResponseHeaders>(request) {
                    headers.add_to(request, &mut response);
                }
                Ok(response)
            }
        }
    }
}

/// Returns 400 for an unreadable target. For an unknown method, returns 405 if a route has the path, otherwise 404.
fn problem(request: &Request<'_>, part: UnreadablePart) -> Problem {
    if part == UnreadablePart::Target {
        return Problem::unreadable_target();
    }
    let mut matching: Vec<&Route> =
        request.rocket().routes().filter(|route| matches_path(request, route)).collect();
    matching.sort_by_key(|route| parameter_count(route));
    let Some(best) = matching.first() else { return Problem::not_found("this resource") };
    let at_path = matching.iter().filter(|route| shape(route.uri.path()) == shape(best.uri.path()));
    // Exclude the routes that respond to unsupported methods: they have no names.
    let methods: Vec<Method> =
        at_path.filter(|route| route.name.is_some()).map(|route| route.method).collect();
    Problem::method_not_allowed(&allow_header(&methods))
}

/// Whether the path matches, regardless of the method. Empty segments are ignored.
fn matches_path(request: &Request<'_>, route: &Route) -> bool {
    let mut segments = request.uri().path().segments().filter(|segment| !segment.is_empty());
    for pattern in route.uri.path().split('/').filter(|pattern| !pattern.is_empty()) {
        if pattern.ends_with("..>") {
            return true;
        }
        if !segments.next().is_some_and(|segment| pattern.starts_with('<') || pattern == segment) {
            return false;
        }
    }
    segments.next().is_none()
}

fn parameter_count(route: &Route) -> usize {
    route.uri.path().split('/').filter(|segment| segment.starts_with('<')).count()
}
