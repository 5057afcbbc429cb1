use rocket::fairing::{Fairing, Info, Kind};
use rocket::{Request, Response};

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
