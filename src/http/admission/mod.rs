//! Decides for every request, before routing, whether it reaches a route: rate limits, credential, HTTPS.

mod account;
mod caller;
mod methods;
mod rejected;
mod unread;

use std::net::IpAddr;
use std::sync::Arc;

use rocket::http::uri::Origin;
use rocket::{Request, Response};

pub(crate) use self::account::Account;
pub use self::caller::Caller;
pub(crate) use self::caller::bearer_token;
pub(crate) use self::methods::other_methods;
pub(crate) use self::rejected::diverted;
pub(crate) use self::unread::unread;
use crate::config::Config;
use crate::http::error::Problem;
use crate::http::fairings::{RequestInfo, Scheme};
use crate::http::managed::managed;
use crate::http::quotas::{Client, QuotaState, Quotas, TooMany};
use crate::model::duration::whole_seconds;

/// Decides for every request whether it reaches a route.
///
/// A guard could be forgotten in a route, and would not run for paths without a route or for a wrong method. So this
/// checks every request first, and gives a request that is not admitted another path, where a route responds with the
/// [`RejectionResponse`], whatever the method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission;

/// The response to a request that is not admitted.
#[derive(Clone, Debug)]
pub(crate) enum RejectionResponse {
    /// The request is one too many; this is the path that it named.
    TooMany(Problem, String),
    /// The request came by HTTP; this is its address by HTTPS.
    ToHttps(String),
}

/// The decision about a request.
#[derive(Debug, Default)]
struct Admitted {
    /// The state of the fuse, if the address has used it up.
    fused: Option<QuotaState>,
    account: Option<Account>,
    diversion: Option<RejectionResponse>,
}

impl Admission {
    /// The path of requests that are not admitted. It differs from every base address, because paths there contain no colons.
    pub(crate) const DIVERTED: &'static str = "/:diverted:";

    /// The path of the health checks. Neither these nor the paths below are counted.
    const HEALTH: &'static str = "/health";
    /// The path of the metrics. Requests for them are not counted if they need a token.
    const METRICS: &'static str = "/metrics";

    /// Decides about a request, and gives one that is not admitted another path.
    pub(crate) fn decide(request: &mut Request<'_>) {
        let diverted = request.local_cache(|| admitted(request)).diversion.is_some();
        if diverted && let Ok(elsewhere) = Origin::parse(Self::DIVERTED) {
            request.set_uri(elsewhere);
        }
    }

    /// Counts a request that Rocket could not read, for which no fairing runs; returns the refusal if it is one too many.
    pub(crate) fn refusal(request: &Request<'_>) -> Option<Problem> {
        match &request.local_cache(|| admitted(request)).diversion {
            Some(RejectionResponse::TooMany(problem, _)) => Some(problem.clone()),
            Some(RejectionResponse::ToHttps(_)) | None => None,
        }
    }

    /// Gives back what the request has not cost, and adds the rate-limit headers.
    pub(crate) fn settle(request: &Request<'_>, response: &mut Response<'_>) {
        Self::tell_standing(request, response);
        if let Some(account) = &request.local_cache(Admitted::default).account {
            account.settle(request);
        }
    }

    /// Adds the rate-limit headers to the response to a request that was counted.
    pub(crate) fn tell_standing(request: &Request<'_>, response: &mut Response<'_>) {
        let Admitted { fused, account, .. } = request.local_cache(Admitted::default);
        let Some(standing) = account.as_ref().and_then(Account::standing).or(*fused) else { return };
        let reset = whole_seconds(standing.reset);
        for (name, value) in [
            ("RateLimit-Limit", standing.limit.into()),
            ("RateLimit-Remaining", standing.remaining.into()),
            ("RateLimit-Reset", reset),
        ] {
            response.set_raw_header(name, value.to_string());
        }
    }
}

impl Admission {
    /// Returns the path that the client named, also if the request was not admitted.
    pub(crate) fn path<'r>(request: &'r Request<'_>) -> &'r str {
        match RejectionResponse::for_request(request) {
            Some(RejectionResponse::TooMany(_, path)) => path,
            _ => request.uri().path().as_str(),
        }
    }
}

impl Account {
    /// Returns the quota that this request counts against; `None` if it is not counted.
    pub(crate) fn for_request(request: &Request<'_>) -> Option<Self> {
        request.local_cache(Admitted::default).account.clone()
    }
}

impl RejectionResponse {
    /// Returns the diversion of this request; `None` if it is admitted.
    pub(crate) fn for_request<'r>(request: &'r Request<'_>) -> Option<&'r Self> {
        request.local_cache(Admitted::default).diversion.as_ref()
    }
}

fn admitted(request: &Request<'_>) -> Admitted {
    let (Ok(quotas), Ok(config)) = (managed::<Arc<Quotas>>(request), managed::<Config>(request)) else {
        return Admitted::default();
    };
    let arrival = RequestInfo::for_request(request);
    // Only a program that embeds the service sends requests without a connection.
    let Some(client) = arrival.client else { return Admitted::default() };
    let token = config.metrics.token.is_some();
    if is_uncounted(request.uri().path().as_str(), config.base_url.path(), token) {
        return Admitted::default();
    }
    let path = || request.uri().path().as_str().to_owned();
    let refused =
        |too_many: TooMany| Some(RejectionResponse::TooMany(Problem::too_many(too_many.retry_after), path()));
    // The fuse of the address comes before its credential is verified, because it protects against guessing credentials.
    if let Err(too_many) = quotas.fuse(client) {
        return Admitted { fused: Some(too_many.standing), account: None, diversion: refused(too_many) };
    }
    let account = account(request, quotas, client);
    if let Err(too_many) = account.count() {
        return Admitted { fused: None, account: Some(account), diversion: refused(too_many) };
    }
    let insecure = arrival.scheme == Scheme::HttpToProxy && config.base_url.is_https();
    let address = || format!("{}{}", config.base_url.origin(), request.uri());
    let diversion = insecure.then(|| RejectionResponse::ToHttps(address()));
    Admitted { fused: None, account: Some(account), diversion }
}

/// Returns the quota of the credential, or else that of the address.
fn account(request: &Request<'_>, quotas: &Arc<Quotas>, address: IpAddr) -> Account {
    match Caller::for_request(request) {
        Ok(Caller(Some(credential))) => {
            let client = Client::Credential(credential.kind, credential.subject.as_str().into());
            Account::new(quotas, client, credential.quota())
        }
        Ok(Caller(None)) | Err(_) => Account::new(quotas, address.into(), None),
    }
}

/// Returns whether the path is outside the interface and among those that are not counted.
fn is_uncounted(path: &str, base: &str, metrics_need_token: bool) -> bool {
    let below = |path: &str, root: &str| {
        path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let metrics = metrics_need_token.then_some(Admission::METRICS);
    let mut uncounted = [Admission::HEALTH].into_iter().chain(metrics);
    uncounted.any(|uncounted| below(path, uncounted) && !below(base, uncounted))
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
        assert!(!is_uncounted("/metrics", "/v1", false), "without a token anybody can ask for them");
        assert!(is_uncounted("/health", "/v1", false));
    }
}
