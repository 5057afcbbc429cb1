use rocket::fairing::{Fairing, Info, Kind};
use rocket::{Request, Response};
use url::Url;

/// Names the licence of the data in every answer (RFC 8288).
#[derive(Clone, Debug)]
pub struct Licence(String);

impl Licence {
    /// The licence at this address.
    #[must_use]
    pub fn new(url: &Url) -> Self {
        Self(format!("<{url}>; rel=\"license\""))
    }
}

#[rocket::async_trait]
impl Fairing for Licence {
    fn info(&self) -> Info {
        Info { name: "Licence", kind: Kind::Response }
    }

    async fn on_response<'r>(&self, _request: &'r Request<'_>, response: &mut Response<'r>) {
        response.set_raw_header("Link", self.0.clone());
    }
}
