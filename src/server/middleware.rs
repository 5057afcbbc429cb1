use rocket::fairing::{Fairing, Info, Kind};
use rocket::{Data, Request, Response};

use crate::http::admission::Admission;
use crate::http::fairings::{
    BareAddresses, ResponseHeaders, count_request, count_response, drop_trailing_slash, restore_method,
};
use crate::telemetry::Metrics;

/// The steps before and after every route, in order.
pub(super) struct Middleware {
    pub(super) metrics: Metrics,
    pub(super) addresses: BareAddresses,
    pub(super) headers: ResponseHeaders,
}

#[rocket::async_trait]
impl Fairing for Middleware {
    fn info(&self) -> Info {
        Info { name: "Middleware", kind: Kind::Request | Kind::Response }
    }

    async fn on_request(&self, request: &mut Request<'_>, data: &mut Data<'_>) {
        restore_method(request, data).await;
        count_request(request, &self.metrics);
        Admission::decide(request);
        drop_trailing_slash(request);
        self.addresses.strip_format(request);
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        let bytes = response.body_mut().size().await.unwrap_or(0);
        count_response(request, response.status(), bytes);
        Admission::finish_response(request, response);
        self.headers.add_to(request, response);
    }
}
