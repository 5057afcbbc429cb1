use rocket::http::{ContentType, Status};
use rocket::{Request, Response};

use super::{Draining, KnownParameters, RequestId, RequestInfo, Scheme};
use crate::config::Config;

/// The headers of responses that pages of other origins may read.
const EXPOSED: &str = "Age, Allow, Content-Location, ETag, Link, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Siaga-Data-As-Of, \
     Siaga-Data-Status, Siaga-Ignored, Siaga-Not-Covered, Siaga-Stale-Since, Siaga-Truncated, Siaga-Version, X-Photo-Token, X-Request-Id";

/// The policy for data, which needs no other resources.
const DATA: &str = "default-src 'none'; frame-ancestors 'none'";
/// The policy for pages that set none themselves, such as pages from templates: styles and images are allowed.
const PAGE: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// The headers that every response gets.
#[derive(Clone, Debug)]
pub(crate) struct ResponseHeaders {
    /// How long browsers must use HTTPS only.
    hsts: Option<String>,
    /// The link to the licence of the data (RFC 8288).
    licence: Option<String>,
    /// Whether shared caches may reuse responses.
    are_shared: bool,
    known: KnownParameters,
    draining: Draining,
}

impl ResponseHeaders {
    pub(crate) fn new(config: &Config, known: KnownParameters, draining: Draining) -> Self {
        Self {
            hsts: config.https.hsts.map(|hsts| format!("max-age={}", hsts.0.as_secs())),
            licence: config.licence.url.as_ref().map(|url| format!("<{url}>; rel=\"license\"")),
            are_shared: config.cache.shared().is_some(),
            known,
            draining,
        }
    }

    /// Adds them. Rocket runs no fairings for requests that it cannot read, so their catcher calls it.
    pub(crate) fn add_to(&self, request: &Request<'_>, response: &mut Response<'_>) {
        RequestId::for_request(request).add_to(response);
        // Also to a 304: a response that a browser has cached before it was marked gets the mark by it.
        response.set_raw_header("Siaga-Version", env!("CARGO_PKG_VERSION"));
        allow_any_origin(request, response);
        restrict_browsers(response);
        self.require_https(request, response);
        if let Some(link) = &self.licence
            && !response.headers().get("Link").any(|known| known == link)
        {
            response.adjoin_raw_header("Link", link.clone());
        }
        if let Some(ignored) = self.known.ignored(request) {
            response.set_raw_header("Siaga-Ignored", ignored);
        }
        if self.are_shared {
            vary_by_credential(response);
        }
        if self.draining.has_begun() {
            response.set_raw_header("Connection", "close");
        }
    }

    /// If HSTS is configured and the request came by HTTPS, keeps browsers from requesting the service by HTTP.
    fn require_https(&self, request: &Request<'_>, response: &mut Response<'_>) {
        if request.rocket().config().tls_enabled() {
            // Rocket has set its own header.
            response.remove_header("Strict-Transport-Security");
        }
        if let Some(hsts) = &self.hsts
            && RequestInfo::for_request(request).scheme == Scheme::Https
        {
            response.set_raw_header("Strict-Transport-Security", hsts.clone());
        }
    }
}

/// Lets pages of any origin read the response, and those of its headers that they need; but not the form, which is for people.
fn allow_any_origin(request: &Request<'_>, response: &mut Response<'_>) {
    let path = request.uri().path();
    if path != "/report" && !path.starts_with("/report/") {
        response.set_raw_header("Access-Control-Allow-Origin", "*");
        response.set_raw_header("Access-Control-Expose-Headers", EXPOSED);
    }
}

/// Keeps browsers from guessing the type of a response and from running or framing it; not for a 304, because the client keeps the
/// headers of the response that it has cached.
///
/// A page can set its own `Content-Security-Policy`: the policies here let no script run.
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
        response.set_raw_header("Content-Security-Policy", if page { PAGE } else { DATA });
    }
}

/// Tells shared caches that a request with a credential has a response of its own.
fn vary_by_credential(response: &mut Response<'_>) {
    if response.headers().get_one("Cache-Control").is_some_and(|of| of.starts_with("public")) {
        let mut vary: Vec<_> = response.headers().get("Vary").collect();
        vary.extend(["Authorization", "X-Api-Key"]);
        let vary = vary.join(", ");
        response.set_raw_header("Vary", vary);
    }
}
