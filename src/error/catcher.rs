use rocket::http::{Method, Status};
use rocket::request::Request;
use rocket::{Catcher, Route, catch, catchers};

use super::{FAILED, Problem};
use crate::fairings::record_unread;
use crate::openapi::shape;

/// The catchers of the service.
#[must_use]
pub fn catchers() -> Vec<Catcher> {
    catchers![problem]
}

/// Renders what a guard refused, and what Rocket did.
#[catch(default)]
fn problem(status: Status, request: &Request<'_>) -> Problem {
    // A route that went on without the guard that refused can have failed otherwise since.
    match request.local_cache(|| None::<Problem>) {
        Some(problem) if problem.details.status == status => return problem.clone(),
        _ => {}
    }
    match status {
        Status::BadRequest => {
            let problem = unread(request);
            record_unread(request, problem.details.status.code);
            problem
        }
        Status::NotFound => Problem::not_found("this resource"),
        Status::InternalServerError => Problem::new(status, FAILED),
        status => Problem::new(status, status.reason_lossy()),
    }
}

/// What a request gets that Rocket could not read: it does not know the method, or of CONNECT the address.
fn unread(request: &Request<'_>) -> Problem {
    if request.method() == Method::Connect {
        return Problem::new(Status::BadRequest, "the address of the request cannot be read");
    }
    let mut there: Vec<&Route> = request.rocket().routes().filter(|route| leads(request, route)).collect();
    there.sort_by_key(|route| dynamic(route));
    let Some(best) = there.first() else { return Problem::not_found("this resource") };
    let at_path = there.iter().filter(|route| shape(route.uri.path()) == shape(best.uri.path()));
    // Those that answer what a path does not take have no names.
    let methods: Vec<Method> =
        at_path.filter(|route| route.name.is_some()).map(|route| route.method).collect();
    Problem::method_not_allowed(&allowed(&methods))
}

/// Whether the path of a request leads to a route.
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

/// How many parts of a route's path can be anything.
fn dynamic(route: &Route) -> usize {
    route.uri.path().split('/').filter(|part| part.starts_with('<')).count()
}

/// The value of `Allow` (RFC 9110 §10.2.1) where these methods are known.
pub(crate) fn allowed(known: &[Method]) -> String {
    const ORDER: [Method; 7] = [
        Method::Get,
        Method::Head,
        Method::Post,
        Method::Put,
        Method::Delete,
        Method::Patch,
        Method::Options,
    ];
    // Rocket answers HEAD where it answers GET.
    let as_known = |method| if method == Method::Head { Method::Get } else { method };
    let allowed =
        ORDER.into_iter().filter(|&method| method == Method::Options || known.contains(&as_known(method)));
    allowed.map(Method::as_str).collect::<Vec<_>>().join(", ")
}
