use rocket::fairing::{Fairing, Info, Kind};
use rocket::route::{Handler, Outcome};
use rocket::{Data, Request, Response, Route, async_trait};
use tracing::{Instrument, Span};

use super::Arrival;
use crate::auth::random;
use crate::telemetry::request_span;

/// The id of a request. It is sent in the response as `X-Request-Id`, and all log lines about the request contain it.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(String);

impl RequestId {
    const HEADER: &'static str = "X-Request-Id";
    /// The maximum length in bytes of an id that a proxy gives.
    const LONGEST: usize = 64;

    /// Returns the id of this request: the one that a trusted proxy has set, else one made at the first call.
    pub(crate) fn of<'r>(request: &'r Request<'_>) -> &'r Self {
        request.local_cache(|| Self::given(request).unwrap_or_else(Self::made))
    }

    /// Returns the id that a trusted proxy has set, if it consists of characters that cannot confuse a log.
    fn given(request: &Request<'_>) -> Option<Self> {
        let mut given = request.headers().get(Self::HEADER);
        let (Some(id), None) = (given.next(), given.next()) else { return None };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let fits = (1..=Self::LONGEST).contains(&id.len()) && id.bytes().all(plain);
        (fits && Arrival::of(request).by_proxy).then(|| Self(id.to_owned()))
    }

    fn made() -> Self {
        // If random numbers are unavailable, requests go on, but all with the same id.
        Self(random::hex::<8>().unwrap_or_else(|_| "0".repeat(16)))
    }

    /// Returns the span of this request. Everything logged within it has the request's id; tasks that a request starts enter it
    /// too.
    pub(crate) fn span<'r>(request: &'r Request<'_>) -> &'r Span {
        /// A type of its own, because a request's cache holds one value per type.
        struct OfRequest(Span);
        &request.local_cache(|| OfRequest(request_span(Self::of(request).as_str()))).0
    }

    /// The id as text.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds the id to the response.
    pub(crate) fn add_to(&self, response: &mut Response<'_>) {
        response.set_raw_header(Self::HEADER, self.0.clone());
    }

    /// Returns a fairing that adds the id of every request to its response.
    #[must_use]
    pub(crate) fn fairing() -> impl Fairing {
        AddRequestId
    }
}

struct AddRequestId;

#[rocket::async_trait]
impl Fairing for AddRequestId {
    fn info(&self) -> Info {
        Info { name: "Request id", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        RequestId::of(request).add_to(response);
    }
}

/// Makes each route run within the span of its request, so that everything it logs, even a panic, has the request's id.
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
