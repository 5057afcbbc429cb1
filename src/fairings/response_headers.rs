//! Headers that every response gets. Rocket runs no fairings for requests that it cannot read, so each is a function, too.

use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::{ContentType, Status};
use rocket::{Request, Response};

use super::{Arrival, Scheme};
use crate::config::Config;

/// Lets pages of any origin read every answer.
#[derive(Clone, Copy, Debug)]
pub struct Cors;

#[rocket::async_trait]
impl Fairing for Cors {
    fn info(&self) -> Info {
        Info { name: "CORS", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, _request: &'r Request<'_>, response: &mut Response<'r>) {
        allow_any_origin(response);
    }
}

const EXPOSED: &str = "Age, Allow, ETag, Link, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Siaga-Stale-Since, \
     X-Request-Id";

/// Adds the headers that let pages of any origin read the answer and those of its headers that matter to them.
pub(crate) fn allow_any_origin(response: &mut Response<'_>) {
    response.set_raw_header("Access-Control-Allow-Origin", "*");
    response.set_raw_header("Access-Control-Expose-Headers", EXPOSED);
}

/// Tells browsers what not to do with an answer, and for how long to use HTTPS only.
#[derive(Clone, Copy, Debug)]
pub struct SecurityHeaders;

#[rocket::async_trait]
impl Fairing for SecurityHeaders {
    fn info(&self) -> Info {
        Info { name: "Security headers", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        secure(request, response);
    }
}

/// The policy of data: it is looked at by itself.
const DATA: &str = "default-src 'none'; frame-ancestors 'none'";
/// The policy of pages that bring none, such as those that templates write: they may look as they like.
const PAGE: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// Adds the headers that keep browsers from guessing what an answer is, from running or framing it and, where HSTS is
/// configured and the request came by HTTPS, from asking for it by HTTP.
///
/// A page can bring its own `Content-Security-Policy`: these let nothing run.
pub(crate) fn secure(request: &Request<'_>, response: &mut Response<'_>) {
    response.set_raw_header("X-Content-Type-Options", "nosniff");
    response.set_raw_header("Referrer-Policy", "no-referrer");
    // Of what a client has already its policy stays.
    let known = response.status() == Status::NotModified;
    if !known && !response.headers().contains("Content-Security-Policy") {
        let page = response.content_type().is_some_and(|kind| kind == ContentType::HTML);
        response.set_raw_header("Content-Security-Policy", if page { PAGE } else { DATA });
    }
    // Rocket has one of its own, sent by HTTP, too.
    response.remove_header("Strict-Transport-Security");
    let hsts = request.rocket().state().and_then(|config: &Config| config.https.hsts);
    if let Some(hsts) = hsts.filter(|_| Arrival::of(request).scheme == Scheme::Https) {
        response.set_raw_header("Strict-Transport-Security", format!("max-age={}", hsts.0.as_secs()));
    }
}

/// Names the configured licence of the data in every answer.
#[derive(Clone, Copy, Debug)]
pub struct Licence;

#[rocket::async_trait]
impl Fairing for Licence {
    fn info(&self) -> Info {
        Info { name: "Licence", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        name_licence(request, response);
    }
}

/// Adds the link to the licence (RFC 8288), if one is configured, beside other links.
pub(crate) fn name_licence(request: &Request<'_>, response: &mut Response<'_>) {
    let url = request.rocket().state().and_then(|config: &Config| config.licence.url.as_ref());
    let Some(link) = url.map(|url| format!("<{url}>; rel=\"license\"")) else { return };
    if !response.headers().get("Link").any(|known| known == link) {
        response.adjoin_raw_header("Link", link);
    }
}
