use std::hash::{BuildHasher, Hasher, RandomState};

use rocket::route::{Handler, Outcome};
use rocket::{Data, Request, Response, Route, async_trait};

use super::RequestInfo;
use crate::runtime::CurrentRequest;

/// The id of a request, sent as `X-Request-Id` and logged with all lines about the request.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(String);

impl RequestId {
    const HEADER: &'static str = "X-Request-Id";
    const MAX_LENGTH: usize = 64;

    /// Returns the id that a trusted proxy has set, else a random id. All calls for a request return the same id.
    pub(crate) fn for_request<'r>(request: &'r Request<'_>) -> &'r Self {
        request.local_cache(|| Self::from_proxy(request).unwrap_or_else(Self::random))
    }

    /// Returns the id that a trusted proxy has set. Accepts only characters that cannot forge lines of a log.
    fn from_proxy(request: &Request<'_>) -> Option<Self> {
        let mut values = request.headers().get(Self::HEADER);
        let (Some(id), None) = (values.next(), values.next()) else { return None };
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_valid = (1..=Self::MAX_LENGTH).contains(&id.len()) && id.bytes().all(is_allowed);
        (is_valid && RequestInfo::for_request(request).by_proxy).then(|| Self(id.to_owned()))
    }

    /// Uses the random keys of a new hash table, which differ for each table, thread and process and need no system call.
    fn random() -> Self {
        Self(format!("{:016x}", RandomState::new().build_hasher().finish()))
    }

    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn current(request: &Request<'_>) -> CurrentRequest {
        CurrentRequest::with_id(Self::for_request(request).as_str())
    }

    pub(super) fn add_to(&self, response: &mut Response<'_>) {
        response.set_raw_header(Self::HEADER, self.0.clone());
    }
}

/// Wraps routes so that their log lines contain the id of the request.
#[must_use]
pub(crate) fn with_request_ids(routes: Vec<Route>) -> Vec<Route> {
    let with_id = |mut route: Route| {
        route.handler = Box::new(WithRequestId(route.handler));
        route
    };
    routes.into_iter().map(with_id).collect()
}

#[derive(Clone)]
struct WithRequestId(Box<dyn Handler>);

#[async_trait]
impl Handler for WithRequestId {
    async fn handle<'r>(&self, request: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        RequestId::current(request).run(self.0.handle(request, data)).await
    }
}
