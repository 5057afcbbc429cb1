//! Headers that every response gets. Rocket runs no fairings for requests that it cannot read, so each is a function too.

use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::{ContentType, Status};
use rocket::{Request, Response};

use super::{Arrival, Scheme};
use crate::config::Config;

/// Lets pages of any origin read every response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cors;

#[rocket::async_trait]
impl Fairing for Cors {
    fn info(&self) -> Info {
        Info { name: "CORS", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        // The form is for people: no page of another site needs to read what the service says to a report.
        let path = request.uri().path();
        if path != "/report" && !path.starts_with("/report/") {
            allow_any_origin(response);
        }
    }
}

const EXPOSED: &str = "Age, Allow, Content-Location, ETag, Link, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Siaga-Data-As-Of, \
     Siaga-Data-Status, Siaga-Ignored, Siaga-Not-Covered, Siaga-Stale-Since, Siaga-Truncated, Siaga-Version, X-Photo-Token, X-Request-Id";

/// Adds the headers that let pages of any origin read the response, and those of its headers that they need.
pub(crate) fn allow_any_origin(response: &mut Response<'_>) {
    response.set_raw_header("Access-Control-Allow-Origin", "*");
    response.set_raw_header("Access-Control-Expose-Headers", EXPOSED);
}

/// Marks every response as the service's own, so that clients can distinguish it from that of a proxy or of a login page of a network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark;

#[rocket::async_trait]
impl Fairing for Mark {
    fn info(&self) -> Info {
        Info { name: "Mark", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, _request: &'r Request<'_>, response: &mut Response<'r>) {
        mark(response);
    }
}

/// Adds the mark, also to a 304: a response that a browser has cached before it was marked gets the mark by it.
pub(crate) fn mark(response: &mut Response<'_>) {
    response.set_raw_header("Siaga-Version", env!("CARGO_PKG_VERSION"));
}

/// Adds the headers that restrict what browsers do with a response, and for how long they must use HTTPS only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecurityHeaders;

#[rocket::async_trait]
impl Fairing for SecurityHeaders {
    fn info(&self) -> Info {
        Info { name: "Security headers", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        secure(request, response);
    }
}

/// The policy for data, which needs no other resources.
const DATA: &str = "default-src 'none'; frame-ancestors 'none'";
/// The policy for pages that set none themselves, such as pages from templates: styles and images are allowed.
const PAGE: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// Adds the headers that keep browsers from guessing the type of a response and from running or framing it; not to a 304, because
/// the client keeps those of the response that it has cached. If HSTS is configured and the request came by HTTPS, the headers
/// also keep browsers from requesting it by HTTP.
///
/// A page can set its own `Content-Security-Policy`: the policies here let no script run.
pub(crate) fn secure(request: &Request<'_>, response: &mut Response<'_>) {
    if response.status() != Status::NotModified {
        response.set_raw_header("X-Content-Type-Options", "nosniff");
        if !response.headers().contains("Referrer-Policy") {
            response.set_raw_header("Referrer-Policy", "no-referrer");
        }
        if !response.headers().contains("Content-Security-Policy") {
            let page = response.content_type().is_some_and(|kind| kind == ContentType::HTML);
            response.set_raw_header("Content-Security-Policy", if page { PAGE } else { DATA });
        }
    }
    let rocket = request.rocket();
    if rocket.config().tls_enabled() {
        // Rocket has set its own header.
        response.remove_header("Strict-Transport-Security");
    }
    let hsts = rocket.state().and_then(|config: &Config| config.https.hsts);
    if let Some(hsts) = hsts.filter(|_| Arrival::of(request).scheme == Scheme::Https) {
        response.set_raw_header("Strict-Transport-Security", format!("max-age={}", hsts.0.as_secs()));
    }
}

/// If shared caches may reuse responses, tells them that a request with a credential has a response of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedCaches;

#[rocket::async_trait]
impl Fairing for SharedCaches {
    fn info(&self) -> Info {
        Info { name: "Shared caches", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        let are_shared =
            request.rocket().state().is_some_and(|config: &Config| config.cache.shared().is_some());
        let is_public =
            response.headers().get_one("Cache-Control").is_some_and(|of| of.starts_with("public"));
        if are_shared && is_public {
            let mut vary: Vec<_> = response.headers().get("Vary").collect();
            vary.extend(["Authorization", "X-Api-Key"]);
            let vary = vary.join(", ");
            response.set_raw_header("Vary", vary);
        }
    }
}

/// Adds the configured licence of the data to every response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Licence;

#[rocket::async_trait]
impl Fairing for Licence {
    fn info(&self) -> Info {
        Info { name: "Licence", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        name_licence(request, response);
    }
}

/// Adds a link to the licence (RFC 8288), if one is configured, to other links in the response.
pub(crate) fn name_licence(request: &Request<'_>, response: &mut Response<'_>) {
    let url = request.rocket().state().and_then(|config: &Config| config.licence.url.as_ref());
    let Some(link) = url.map(|url| format!("<{url}>; rel=\"license\"")) else { return };
    if !response.headers().get("Link").any(|known| known == link) {
        response.adjoin_raw_header("Link", link);
    }
}
