use rocket::http::Status;
use rocket::request::Request;
use rocket::{Catcher, catch, catchers};

use super::Problem;
use super::constructors::FAILED;

#[must_use]
pub(crate) fn catchers() -> Vec<Catcher> {
    catchers![problem]
}

#[catch(default)]
fn problem(status: Status, request: &Request<'_>) -> Problem {
    Problem::from_status(status, request)
}

impl Problem {
    /// Returns the problem that a guard has stored in the request, or else a problem for the status that Rocket has set.
    pub(crate) fn from_status(status: Status, request: &Request<'_>) -> Self {
        // Ignore the guard's problem if the route continued without that guard and failed later with another status.
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
