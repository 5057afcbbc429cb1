//! Responses to requests that Rocket could not read: the method is unknown, or the target has no path (`GET a:80`). Rocket runs
//! no fairing for such a request. It calls the catcher of 400 with those parts that it could read.

use rocket::http::{Method, Status};
use rocket::request::Request;
use rocket::response::{Responder, Result};
use rocket::{Catcher, Route, catch, catchers};

use super::Admission;
use super::methods::allowed;
use crate::http::error::Problem;
use crate::http::fairings::{ResponseHeaders, UnreadPart, count_response};
use crate::http::managed::managed;
use crate::openapi::shape;

/// Returns the catcher of requests that Rocket could not read.
#[must_use]
pub(crate) fn unread() -> Vec<Catcher> {
    catchers![refuse]
}

/// Counts such a request against the rate limits of its address, and refuses it; renders any other 400.
#[catch(400)]
fn refuse(status: Status, request: &Request<'_>) -> Refusal {
    match UnreadPart::for_request(request) {
        None => Refusal::Read(Problem::caught(status, request)),
        Some(unread) => {
            let too_many = Admission::refusal(request);
            Refusal::Unread(too_many.unwrap_or_else(|| problem(request, unread)))
        }
    }
}

enum Refusal {
    Read(Problem),
    Unread(Problem),
}

impl<'r> Responder<'r, 'static> for Refusal {
    fn respond_to(self, request: &'r Request<'_>) -> Result<'static> {
        match self {
            Self::Read(problem) => problem.respond_to(request),
            // For other requests, the middleware does this.
            Self::Unread(problem) => {
                let mut response = problem.respond_to(request)?;
                count_response(request, response.status(), 0);
                Admission::tell_standing(request, &mut response);
                if let Ok(headers) = managed::<ResponseHeaders>(request) {
                    headers.add_to(request, &mut response);
                }
                Ok(response)
            }
        }
    }
}

fn problem(request: &Request<'_>, unread: UnreadPart) -> Problem {
    if unread == UnreadPart::Target {
        return Problem::unreadable_target();
    }
    let mut there: Vec<&Route> = request.rocket().routes().filter(|route| leads(request, route)).collect();
    there.sort_by_key(|route| dynamic(route));
    let Some(best) = there.first() else { return Problem::not_found("this resource") };
    let at_path = there.iter().filter(|route| shape(route.uri.path()) == shape(best.uri.path()));
    // Routes for methods that a path does not support have no names.
    let methods: Vec<Method> =
        at_path.filter(|route| route.name.is_some()).map(|route| route.method).collect();
    Problem::method_not_allowed(&allowed(&methods))
}

/// Returns whether the path of a request matches a route.
fn leads(request: &Request<'_>, route: &Route) -> bool {
    let mut parts = request.uri().path().segments().filter(|part| !part.is_empty());
    for own in route.uri.path().split('/').filter(|own| !own.is_empty()) {
        if own.ends_with("..>") {
            return true;
        }
        if !parts.next().is_some_and(|part| own.starts_with('<') || own == part) {
            return false;
        }
    }
    parts.next().is_none()
}

/// Returns how many segments of a route's path are parameters.
fn dynamic(route: &Route) -> usize {
    route.uri.path().split('/').filter(|part| part.starts_with('<')).count()
}
