//! Decides for every request, before routing, whether it reaches a route: rate limits, credential, HTTPS.

mod account;

use std::net::IpAddr;
use std::sync::Arc;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::uri::Origin;
use rocket::{Data, Request, Response};

pub(crate) use self::account::Account;
use crate::config::Config;
use crate::error::Problem;
use crate::fairings::{Arrival, Scheme};
use crate::guards::{Caller, managed};
use crate::model::duration::whole_seconds;
use crate::quotas::{Client, Quotas, Standing, TooMany};

/// Decides of every request whether it gets to a route at all.
///
/// A guard in every route would be forgotten in one, and would see neither what no route answers nor a wrong method. So
/// this looks at every request first, and one that is not admitted gets another path, where [`Diversion`] is answered
/// whatever its method.
#[derive(Clone, Copy, Debug)]
pub struct Admission;

/// What a request gets instead of what it asks for.
#[derive(Clone, Debug)]
pub enum Diversion {
    /// It is one too many.
    TooMany(Problem),
    /// It came by HTTP; this is the address by HTTPS.
    ToHttps(String),
}

/// What was found out about a request before any route saw it.
#[derive(Debug, Default)]
struct Admitted {
    /// Where the address stands that has blown its fuse.
    fused: Option<Standing>,
    account: Option<Account>,
    diversion: Option<Diversion>,
}

impl Admission {
    /// The path of requests that are not admitted. No base address can have it: its paths have no colons.
    pub const DIVERTED: &'static str = "/:diverted:";

    /// The paths of requests that see whether the service is well. They are not counted, nor is what is below them.
    const HEALTH: &'static str = "/health";
    /// The path of the metrics. They are not counted where they need a token.
    const METRICS: &'static str = "/metrics";

    /// Counts a request that no fairing comes to, since Rocket could not read it; returns the refusal of one too many.
    pub(crate) fn refusal(request: &Request<'_>) -> Option<Problem> {
        match &request.local_cache(|| admitted(request)).diversion {
            Some(Diversion::TooMany(problem)) => Some(problem.clone()),
            Some(Diversion::ToHttps(_)) | None => None,
        }
    }

    /// Adds where the client stands to the response to a request that was counted.
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

impl Account {
    /// The quota that this request counts against; `None` for one that is not counted.
    pub(crate) fn of(request: &Request<'_>) -> Option<Self> {
        request.local_cache(Admitted::default).account.clone()
    }
}

impl Diversion {
    /// What this request gets instead; `None` for one that is admitted.
    pub fn of<'r>(request: &'r Request<'_>) -> Option<&'r Self> {
        request.local_cache(Admitted::default).diversion.as_ref()
    }
}

#[rocket::async_trait]
impl Fairing for Admission {
    fn info(&self) -> Info {
        Info { name: "Admission", kind: Kind::Request | Kind::Response }
    }

    async fn on_request(&self, request: &mut Request<'_>, _data: &mut Data<'_>) {
        let diverted = request.local_cache(|| admitted(request)).diversion.is_some();
        if diverted && let Ok(elsewhere) = Origin::parse(Self::DIVERTED) {
            request.set_uri(elsewhere);
        }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        Self::tell_standing(request, response);
    }
}

fn admitted(request: &Request<'_>) -> Admitted {
    let (Ok(quotas), Ok(config)) = (managed::<Arc<Quotas>>(request), managed::<Config>(request)) else {
        return Admitted::default();
    };
    let arrival = Arrival::of(request);
    // Only a program that embeds the service sends requests by no connection.
    let Some(client) = arrival.client else { return Admitted::default() };
    let token = config.metrics.token.is_some();
    if is_uncounted(request.uri().path().as_str(), config.base_url.path(), token) {
        return Admitted::default();
    }
    let refused = |too_many: TooMany| Some(Diversion::TooMany(Problem::too_many(too_many.retry_after)));
    // The fuse of the address comes before its credential is looked at: guessing is what it is against.
    if let Err(too_many) = quotas.fuse(client) {
        return Admitted { fused: Some(too_many.standing), account: None, diversion: refused(too_many) };
    }
    let account = account(request, quotas, client);
    if let Err(too_many) = account.count() {
        return Admitted { fused: None, account: Some(account), diversion: refused(too_many) };
    }
    let insecure = arrival.scheme == Scheme::HttpToProxy && config.base_url.is_https();
    let address = || format!("{}{}", config.base_url.origin(), request.uri());
    let diversion = insecure.then(|| Diversion::ToHttps(address()));
    Admitted { fused: None, account: Some(account), diversion }
}

/// The quota of the credential, or else of the address.
fn account(request: &Request<'_>, quotas: &Arc<Quotas>, address: IpAddr) -> Account {
    match Caller::of(request) {
        Ok(Caller(Some(credential))) => {
            let client = Client::Credential(credential.kind, credential.subject.as_str().into());
            Account::new(quotas, client, credential.quota())
        }
        Ok(Caller(None)) | Err(_) => Account::new(quotas, address.into(), None),
    }
}

/// Whether the path is outside the interface and among those that are not counted.
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
            ("/metrics", "/health/v1", true),
        ] {
            assert_eq!(is_uncounted(path, base, true), expected, "{path} of {base}");
        }
        assert!(!is_uncounted("/metrics", "/v1", false), "without a token anybody can ask for them");
        assert!(is_uncounted("/health", "/v1", false));
    }
}
