use rocket::fairing::{Fairing, Info, Kind};
use rocket::{Request, Response};

use crate::config::Config;

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
