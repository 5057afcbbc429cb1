use rocket::http::Status;
use rocket::request::Request;
use rocket::{Catcher, catch, catchers};

use super::{FAILED, Problem};

/// Returns the catcher of all statuses that have no catcher of their own.
#[must_use]
pub(crate) fn catchers() -> Vec<Catcher> {
    catchers![problem]
}

#[catch(default)]
fn problem(status: Status, request: &Request<'_>) -> Problem {
    Problem::caught(status, request)
}

impl Problem {
    /// Returns the problem that a guard has noted for this request, or else one for Rocket's own status.
    pub(crate) fn caught(status: Status, request: &Request<'_>) -> Self {
        // If the route went on without the guard that refused, it may have failed later with another status.
        match request.local_cache(|| None::<Self>) {
            Some(problem) if problem.details.status == status => return problem.clone(),
            _ => {}
        }
        match status {
            Status::NotFound => Self::not_found("this resource"),
            Status::InternalServerError => Self::new(status, FAILED),
            status => Self::new(status, status.reason_lossy()),
        }
    }
}
