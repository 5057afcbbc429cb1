use std::hash::{BuildHasher, Hasher, RandomState};

use rocket::route::{Handler, Outcome};
use rocket::{Data, Request, Response, Route, async_trait};

use super::RequestInfo;
use crate::runtime::CurrentRequest;

/// The id of a request. It is sent in the response as `X-Request-Id`, and all log lines about the request contain it.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(String);

impl RequestId {
    const HEADER: &'static str = "X-Request-Id";
    /// The maximum length in bytes of an id that a proxy gives.
    const LONGEST: usize = 64;

    /// Returns the id of this request: the one that a trusted proxy has set, else one made at the first call.
    pub(crate) fn for_request<'r>(request: &'r Request<'_>) -> &'r Self {
        request.local_cache(|| Self::given(request).unwrap_or_else(Self::made))
    }

    /// Returns the id that a trusted proxy has set, if it consists of characters that cannot confuse a log.
    fn given(request: &Request<'_>) -> Option<Self> {
        let mut given = request.headers().get(Self::HEADER);
        let (Some(id), None) = (given.next(), given.next()) else { return None };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let fits = (1..=Self::LONGEST).contains(&id.len()) && id.bytes().all(plain);
        (fits && RequestInfo::for_request(request).by_proxy).then(|| Self(id.to_owned()))
    }

    /// Makes an id by the keys of a new hash table, which differ for each table, thread and process: they need no call of the system.
    fn made() -> Self {
        Self(format!("{:016x}", RandomState::new().build_hasher().finish()))
    }

    /// The id as text.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the request, for work that belongs to it.
    pub(crate) fn current(request: &Request<'_>) -> CurrentRequest {
        CurrentRequest::with_id(Self::for_request(request).as_str())
    }

    /// Adds the id to the response.
    pub(super) fn add_to(&self, response: &mut Response<'_>) {
        response.set_raw_header(Self::HEADER, self.0.clone());
    }
}

/// Returns routes whose log lines have the id of the request.
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
