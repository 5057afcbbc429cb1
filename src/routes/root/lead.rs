use rocket::http::{Method, Status};
use rocket::request::Request;
use rocket::response::Response;
use rocket::route::{Handler, Outcome};
use rocket::{Data, Route};

/// A route that leads from a path at which the interface is mounted, and where nothing of it is, to `/`.
#[must_use]
pub(crate) fn lead_to_front(path: &str) -> Route {
    Route::new(Method::Get, path, Lead)
}

#[derive(Clone)]
struct Lead;

#[rocket::async_trait]
impl Handler for Lead {
    async fn handle<'r>(&self, _request: &'r Request<'_>, _data: Data<'r>) -> Outcome<'r> {
        // Without a host: whatever name the service is reached by, there it is.
        let response =
            Response::build().status(Status::TemporaryRedirect).raw_header("Location", "/").finalize();
        Outcome::Success(response)
    }
}
