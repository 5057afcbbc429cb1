use rocket::http::{Method, Status};
use rocket::request::Request;
use rocket::{Catcher, Route, catch, catchers};

use super::{FAILED, Problem};
use crate::fairings::record_unread;

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

/// What a request gets that Rocket could not read: of an address it could not, it has the root's, and only CONNECT has
/// such a one; else it is the method that it does not know.
fn unread(request: &Request<'_>) -> Problem {
    if request.uri() == "/" {
        return Problem::new(Status::BadRequest, "the method or the address of the request cannot be read");
    }
    let path = request.uri().path();
    let parts = || path.as_str().trim_end_matches('/').split('/');
    let named = request.rocket().routes().filter(|route| route.name.is_some());
    let mut there: Vec<&Route> = named.filter(|route| leads(route, parts())).collect();
    there.sort_by_key(|route| dynamic(route));
    let Some(best) = there.first() else { return Problem::not_found("this resource") };
    let at_path = there.iter().filter(|route| route.uri.path() == best.uri.path());
    let methods: Vec<Method> = at_path.map(|route| route.method).collect();
    Problem::method_not_allowed(&allowed(&methods))
}

/// Whether a path of these parts leads to a route.
fn leads<'a>(route: &Route, mut parts: impl Iterator<Item = &'a str>) -> bool {
    for own in route.uri.path().trim_end_matches('/').split('/') {
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
