use rocket::http::{ContentType, Status};
use rocket::{Request, Response};

use super::{Draining, KnownParameters, RequestId, RequestInfo, Scheme};
use crate::config::Config;

/// The headers that pages of other origins may read.
const EXPOSED_HEADERS: &str = "Age, Allow, Content-Location, ETag, Link, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Siaga-Data-As-Of, \
     Siaga-Data-Status, Siaga-Ignored, Siaga-Not-Covered, Siaga-Stale-Since, Siaga-Truncated, Siaga-Version, X-Photo-Token, X-Request-Id";

/// The `Content-Security-Policy` for data, which loads no other resources.
const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";
/// The `Content-Security-Policy` for pages that set none themselves, such as pages from templates. Allows styles and images.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

#[derive(Clone, Debug)]
pub(crate) struct ResponseHeaders {
    hsts: Option<String>,
    /// The link to the licence of the data (RFC 8288).
    licence: Option<String>,
    has_shared_caches: bool,
    known_parameters: KnownParameters,
    draining: Draining,
}

impl ResponseHeaders {
    pub(crate) fn new(config: &Config, known: KnownParameters, draining: Draining) -> Self {
        Self {
            hsts: config.https.hsts.map(|hsts| format!("max-age={}", hsts.0.as_secs())),
            licence: config.licence.url.as_ref().map(|url| format!("<{url}>; rel=\"license\"")),
            has_shared_caches: config.cache.shared().is_some(),
            known_parameters: known,
            draining,
        }
    }

    /// Adds the headers. The catcher of unreadable requests also calls this, because Rocket runs no fairings for them.
    pub(crate) fn add_to(&self, request: &Request<'_>, response: &mut Response<'_>) {
        RequestId::for_request(request).add_to(response);
        // Sent with a 304 as well, so that browsers add this header to responses which they cached before the header existed.
        response.set_raw_header("Siaga-Version", env!("CARGO_PKG_VERSION"));
        allow_any_origin(request, response);
        restrict_browsers(response);
        self.require_https(request, response);
        if let Some(link) = &self.licence
            && !response.headers().get("Link").any(|value| value == link)
        {
            response.adjoin_raw_header("Link", link.clone());
        }
        if let Some(ignored) = self.known_parameters.ignored_header(request) {
            response.set_raw_header("Siaga-Ignored", ignored);
        }
        if self.has_shared_caches {
            vary_by_credential(response);
        }
        if self.draining.has_started() {
            response.set_raw_header("Connection", "close");
        }
    }

    fn require_https(&self, request: &Request<'_>, response: &mut Response<'_>) {
        if request.rocket().config().tls_enabled() {
            response.remove_header("Strict-Transport-Security");
        }
        if let Some(hsts) = &self.hsts
            && RequestInfo::for_request(request).scheme == Scheme::Https
        {
            response.set_raw_header("Strict-Transport-Security", hsts.clone());
        }
    }
}

/// Lets pages of any origin read the response and the exposed headers. Responses of the residents' form (`/report`) are excluded.
fn allow_any_origin(request: &Request<'_>, response: &mut Response<'_>) {
    let path = request.uri().path();
    if path != "/report" && !path.starts_with("/report/") {
        response.set_raw_header("Access-Control-Allow-Origin", "*");
        response.set_raw_header("Access-Control-Expose-Headers", EXPOSED_HEADERS);
    }
}

/// Keeps browsers from guessing the type of a response, and from running or framing it. A 304 stays unchanged, because the client
/// keeps the headers of its cached response.
///
/// A page can set its own `Content-Security-Policy`; the policies here allow no script.
fn restrict_browsers(response: &mut Response<'_>) {
    if response.status() == Status::NotModified {
        return;
    }
    response.set_raw_header("X-Content-Type-Options", "nosniff");
    if !response.headers().contains("Referrer-Policy") {
        response.set_raw_header("Referrer-Policy", "no-referrer");
    }
    if !response.headers().contains("Content-Security-Policy") {
        let page = response.content_type().is_some_and(|kind| kind == ContentType::HTML);
        response.set_raw_header("Content-Security-Policy", if page { PAGE_POLICY } else { DATA_POLICY });
    }
}

/// Keeps shared caches from mixing up responses with and without a credential.
fn vary_by_credential(response: &mut Response<'_>) {
    if response.headers().get_one("Cache-Control").is_some_and(|value| value.starts_with("public")) {
        let mut vary: Vec<_> = response.headers().get("Vary").collect();
        vary.extend(["Authorization", "X-Api-Key"]);
        let vary = vary.join(", ");
        response.set_raw_header("Vary", vary);
    }
}
