use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::Method;
use rocket::{Data, Request};

/// Undoes what Rocket does to a form that begins with `_method=`: it takes a POST for another method.
#[derive(Clone, Copy, Debug)]
pub struct RealMethod;

#[rocket::async_trait]
impl Fairing for RealMethod {
    fn info(&self) -> Info {
        Info { name: "Real method", kind: Kind::Request }
    }

    async fn on_request(&self, request: &mut Request<'_>, data: &mut Data<'_>) {
        const OVERRIDE: &[u8] = b"_method=";
        let form = request.content_type().is_some_and(|kind| kind.is_form());
        if form && data.peek(OVERRIDE.len()).await == OVERRIDE {
            request.set_method(Method::Post);
        }
    }
}
