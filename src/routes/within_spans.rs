use rocket::request::Request;
use rocket::route::{Handler, Outcome};
use rocket::{Data, Route, async_trait};
use tracing::Instrument;

use crate::fairings::RequestId;

/// The routes, each handled within the span of its request: whatever is logged meanwhile, a panic too, has the request's id.
#[must_use]
pub(crate) fn within_spans(routes: Vec<Route>) -> Vec<Route> {
    let within_span = |mut route: Route| {
        route.handler = Box::new(WithinSpan(route.handler));
        route
    };
    routes.into_iter().map(within_span).collect()
}

#[derive(Clone)]
struct WithinSpan(Box<dyn Handler>);

#[async_trait]
impl Handler for WithinSpan {
    async fn handle<'r>(&self, request: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        self.0.handle(request, data).instrument(RequestId::span(request).clone()).await
    }
}
