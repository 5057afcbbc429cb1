//! Decides before routing whether a request is admitted: rate limits, credential, HTTPS.

mod account;
mod caller;
mod rejected_request;
mod unreadable_request;
mod unsupported_method;

use std::net::IpAddr;
use std::sync::Arc;

use rocket::http::uri::Origin;
use rocket::{Request, Response};

pub(crate) use self::account::Account;
pub use self::caller::Caller;
pub(crate) use self::caller::{PUSH_SECRET, bearer_token};
pub(crate) use self::rejected_request::rejection_routes;
pub(crate) use self::unreadable_request::unreadable_request_catchers;
pub(crate) use self::unsupported_method::unsupported_method_routes;
use crate::config::Config;
use crate::http::error::Problem;
use crate::http::fairings::{RequestInfo, Scheme};
use crate::http::managed::managed;
use crate::http::quotas::{Client, QuotaState, Quotas, TooMany};
use crate::model::duration::seconds_rounded_up;

/// Decides for every request whether it is admitted.
///
/// Runs before routing, and replaces the path of a rejected request by [`REJECTED_PATH`](Self::REJECTED_PATH). The routes of that
/// path send the [`RejectionResponse`], whatever the method. A request guard is not enough: a route could omit the guard, and
/// Rocket runs no guards for an unknown path or a wrong method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission;

#[derive(Clone, Debug)]
pub(crate) enum RejectionResponse {
    /// The problem, and the original path.
    TooMany(Problem, String),
    /// The HTTPS address to redirect to, because the request came by HTTP.
    ToHttps(String),
}

#[derive(Debug, Default)]
struct Outcome {
    /// The state of the address's fuse (its hard limit of requests per second), if the fuse is used up.
    fuse_state: Option<QuotaState>,
    account: Option<Account>,
    rejection: Option<RejectionResponse>,
}

impl Admission {
    /// The path of rejected requests. The colons distinguish it from every base address.
    pub(crate) const REJECTED_PATH: &'static str = "/:diverted:";

    /// The path of health checks, which no quota counts.
    const HEALTH: &'static str = "/health";
    /// The path of the metrics. No quota counts requests for the metrics if they need a token.
    const METRICS: &'static str = "/metrics";

    pub(crate) fn decide(request: &mut Request<'_>) {
        let is_rejected = request.local_cache(|| outcome(request)).rejection.is_some();
        if is_rejected && let Ok(path) = Origin::parse(Self::REJECTED_PATH) {
            request.set_uri(path);
        }
    }

    /// Counts a request that Rocket could not read, because no fairing runs for it. Returns a 429 if it exceeds the rate limit.
    pub(crate) fn rate_limit_problem(request: &Request<'_>) -> Option<Problem> {
        match &request.local_cache(|| outcome(request)).rejection {
            Some(RejectionResponse::TooMany(problem, _)) => Some(problem.clone()),
            Some(RejectionResponse::ToHttps(_)) | None => None,
        }
    }

    /// Refunds a request that was served from the cache, and adds the rate-limit headers.
    pub(crate) fn finish_response(request: &Request<'_>, response: &mut Response<'_>) {
        Self::add_rate_limit_headers(request, response);
        if let Some(account) = &request.local_cache(Outcome::default).account {
            account.refund_cache_hit(request);
        }
    }

    pub(crate) fn add_rate_limit_headers(request: &Request<'_>, response: &mut Response<'_>) {
        let Outcome { fuse_state, account, .. } = request.local_cache(Outcome::default);
        let Some(quota) = account.as_ref().and_then(Account::quota_state).or(*fuse_state) else { return };
        let reset = seconds_rounded_up(quota.reset);
        for (name, value) in [
            ("RateLimit-Limit", quota.limit.into()),
            ("RateLimit-Remaining", quota.remaining.into()),
            ("RateLimit-Reset", reset),
        ] {
            response.set_raw_header(name, value.to_string());
        }
    }
}

impl Admission {
    pub(crate) fn path<'r>(request: &'r Request<'_>) -> &'r str {
        match RejectionResponse::for_request(request) {
            Some(RejectionResponse::TooMany(_, path)) => path,
            _ => request.uri().path().as_str(),
        }
    }
}

impl Account {
    /// Returns the account of a request; `None` if no quota counts the request.
    pub(crate) fn for_request(request: &Request<'_>) -> Option<Self> {
        request.local_cache(Outcome::default).account.clone()
    }
}

impl RejectionResponse {
    pub(crate) fn for_request<'r>(request: &'r Request<'_>) -> Option<&'r Self> {
        request.local_cache(Outcome::default).rejection.as_ref()
    }
}

/// Counts the request and decides about it. Requests without a client address or for exempt paths are admitted, but not counted.
fn outcome(request: &Request<'_>) -> Outcome {
    let (Ok(quotas), Ok(config)) = (managed::<Arc<Quotas>>(request), managed::<Config>(request)) else {
        return Outcome::default();
    };
    let info = RequestInfo::for_request(request);
    // Only programs that embed the service send requests without a connection.
    let Some(client) = info.client else { return Outcome::default() };
    let token = config.metrics.token.is_some();
    if is_uncounted(request.uri().path().as_str(), config.base_url.path(), token) {
        return Outcome::default();
    }
    let path = || request.uri().path().as_str().to_owned();
    let reject =
        |too_many: TooMany| Some(RejectionResponse::TooMany(Problem::too_many(too_many.retry_after), path()));
    // The fuse is checked before the credential, because it limits attempts to guess credentials.
    if let Err(too_many) = quotas.check_hard_limit(client) {
        return Outcome { fuse_state: Some(too_many.quota), account: None, rejection: reject(too_many) };
    }
    let account = account(request, quotas, client);
    if let Err(too_many) = account.count() {
        return Outcome { fuse_state: None, account: Some(account), rejection: reject(too_many) };
    }
    let insecure = info.scheme == Scheme::HttpToProxy && config.base_url.is_https();
    let address = || format!("{}{}", config.base_url.origin(), request.uri());
    let rejection = insecure.then(|| RejectionResponse::ToHttps(address()));
    Outcome { fuse_state: None, account: Some(account), rejection }
}

fn account(request: &Request<'_>, quotas: &Arc<Quotas>, address: IpAddr) -> Account {
    match Caller::for_request(request) {
        Ok(Caller(Some(credential))) => {
            let client = Client::Credential(credential.kind, credential.subject.as_str().into());
            Account::new(quotas, client, credential.quota())
        }
        Ok(Caller(None)) | Err(_) => Account::new(quotas, address.into(), None),
    }
}

/// Whether requests for the path are exempt from quotas. If the mount path `base` is below an exempt path, that path is not
/// exempt.
fn is_uncounted(path: &str, base: &str, metrics_need_token: bool) -> bool {
    let is_below = |path: &str, root: &str| {
        path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let metrics = metrics_need_token.then_some(Admission::METRICS);
    let mut uncounted = [Admission::HEALTH].into_iter().chain(metrics);
    uncounted.any(|uncounted| is_below(path, uncounted) && !is_below(base, uncounted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_and_metrics_are_not_counted_and_the_interface_always_is() {
        for (path, base, expected) in [
            ("/health", "/v1", true),
            ("/health/ready", "/v1", true),
            ("/metrics", "/", true),
            ("/healthy", "/v1", false),
            ("/v1/health", "/v1", false),
            ("//health", "/v1", false),
            ("/health/v1/floods", "/health/v1", false),
        ] {
            assert_eq!(is_uncounted(path, base, true), expected, "{path} of {base}");
        }
        assert!(!is_uncounted("/metrics", "/v1", false), "without a token anyone can read them");
        assert!(is_uncounted("/health", "/v1", false));
    }
}
