use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::{ContentType, Status};
use rocket::{Request, Response};

use super::{Arrival, Scheme};
use crate::config::Config;

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
