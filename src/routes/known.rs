use rocket::request::Request;
use rocket::route::{Handler, Outcome};
use rocket::{Data, Route, async_trait};

use crate::fairings::RequestId;
use crate::telemetry::within_request;

/// The routes, of which a panic is logged with the id of the request.
#[must_use]
pub(crate) fn known_in_panics(routes: Vec<Route>) -> Vec<Route> {
    let known = |mut route: Route| {
        route.handler = Box::new(Known(route.handler));
        route
    };
    routes.into_iter().map(known).collect()
}

#[derive(Clone)]
struct Known(Box<dyn Handler>);

#[async_trait]
impl Handler for Known {
    async fn handle<'r>(&self, request: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        let id = RequestId::of(request).as_str().to_owned();
        within_request(id, self.0.handle(request, data)).await
    }
}
