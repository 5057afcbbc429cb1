use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::ContentType;
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

/// Adds the headers that keep browsers from guessing what an answer is, from running or framing it and, where HSTS is
/// configured and the request came by HTTPS, from asking for it by HTTP.
///
/// A page brings its own `Content-Security-Policy`: the one for data lets nothing run.
pub fn secure(request: &Request<'_>, response: &mut Response<'_>) {
    response.set_raw_header("X-Content-Type-Options", "nosniff");
    response.set_raw_header("Referrer-Policy", "no-referrer");
    let page = response.content_type().is_some_and(|kind| kind == ContentType::HTML);
    if !page && !response.headers().contains("Content-Security-Policy") {
        response.set_raw_header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    }
    // Rocket has one of its own, sent by HTTP, too.
    response.remove_header("Strict-Transport-Security");
    let hsts = request.rocket().state().and_then(|config: &Config| config.https.hsts);
    if let Some(hsts) = hsts.filter(|_| Arrival::of(request).scheme == Scheme::Https) {
        response.set_raw_header("Strict-Transport-Security", format!("max-age={}", hsts.0.as_secs()));
    }
}
