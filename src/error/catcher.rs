use rocket::http::Status;
use rocket::request::Request;
use rocket::{Catcher, catch, catchers};

use super::{FAILED, Problem};

/// The catcher of whatever has no catcher of its own.
#[must_use]
pub fn catchers() -> Vec<Catcher> {
    catchers![problem]
}

#[catch(default)]
fn problem(status: Status, request: &Request<'_>) -> Problem {
    Problem::caught(status, request)
}

impl Problem {
    /// What a guard refused, or else what Rocket did.
    pub(crate) fn caught(status: Status, request: &Request<'_>) -> Self {
        // A route that went on without the guard that refused can have failed otherwise since.
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
