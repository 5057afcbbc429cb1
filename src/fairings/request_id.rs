use rocket::fairing::{Fairing, Info, Kind};
use rocket::route::{Handler, Outcome};
use rocket::{Data, Request, Response, Route, async_trait};
use tracing::{Instrument, Span};

use super::Arrival;
use crate::auth::random;
use crate::telemetry::request_span;

/// The id of a request: in its answer as `X-Request-Id` and in whatever is logged about it.
#[derive(Clone, Debug)]
pub struct RequestId(String);

impl RequestId {
    const HEADER: &'static str = "X-Request-Id";
    /// In bytes, of one that a proxy gives.
    const LONGEST: usize = 64;

    /// The id of this request: what a trusted proxy calls it, else made when it is first asked for.
    pub fn of<'r>(request: &'r Request<'_>) -> &'r Self {
        request.local_cache(|| Self::given(request).unwrap_or_else(Self::made))
    }

    /// What a trusted proxy calls the request, if that cannot be taken for anything else in a log.
    fn given(request: &Request<'_>) -> Option<Self> {
        let mut given = request.headers().get(Self::HEADER);
        let (Some(id), None) = (given.next(), given.next()) else { return None };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let fits = (1..=Self::LONGEST).contains(&id.len()) && id.bytes().all(plain);
        (fits && Arrival::of(request).by_proxy).then(|| Self(id.to_owned()))
    }

    fn made() -> Self {
        // Without random numbers requests go on, with ids that do not tell them apart.
        Self(random::hex::<8>().unwrap_or_else(|_| "0".repeat(16)))
    }

    /// The span of this request. What is logged within it has the request's id; tasks that a request starts enter it, too.
    pub fn span<'r>(request: &'r Request<'_>) -> &'r Span {
        /// Of its own type: a cache of a request holds one value for each.
        struct OfRequest(Span);
        &request.local_cache(|| OfRequest(request_span(Self::of(request).as_str()))).0
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds the id to the answer.
    pub fn add_to(&self, response: &mut Response<'_>) {
        response.set_raw_header(Self::HEADER, self.0.clone());
    }

    /// Adds the id of every request to its answer.
    #[must_use]
    pub fn fairing() -> impl Fairing {
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
