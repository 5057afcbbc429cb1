use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::uri::Origin;
use rocket::{Data, Request};

/// Treats `/floods/` as `/floods`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrailingSlash;

#[rocket::async_trait]
impl Fairing for TrailingSlash {
    fn info(&self) -> Info {
        Info { name: "Trailing slash", kind: Kind::Request }
    }

    async fn on_request(&self, request: &mut Request<'_>, _data: &mut Data<'_>) {
        let uri = request.uri();
        let without = uri.path().as_str().strip_suffix('/').filter(|path| !path.is_empty());
        let Some(without) = without else { return };
        let without = match uri.query() {
            Some(query) => format!("{without}?{query}"),
            None => without.to_owned(),
        };
        if let Ok(uri) = Origin::parse_owned(without) {
            request.set_uri(uri);
        }
    }
}
