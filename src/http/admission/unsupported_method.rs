//! Responds to methods that a path does not support: 405 with `Allow`, or 204 to `OPTIONS`, which browsers send as preflight.

use std::collections::BTreeMap;

use rocket::http::{Method, Status};
use rocket::request::Request;
use rocket::response::Response;
use rocket::route::{Handler, Outcome};
use rocket::{Data, Route};

use crate::http::error::Problem;
use crate::openapi::shape;

/// The methods that a client can send, except HEAD, because Rocket handles HEAD requests with the routes for GET.
pub(super) const METHODS: [Method; 8] = [
    Method::Get,
    Method::Put,
    Method::Post,
    Method::Delete,
    Method::Options,
    Method::Trace,
    Method::Connect,
    Method::Patch,
];

/// Returns, for each path of the `routes`, routes for all methods that the path does not support.
pub(crate) fn unsupported_method_routes<'a>(routes: impl Iterator<Item = &'a Route>) -> Vec<Route> {
    let mut paths: BTreeMap<String, (&str, Vec<Method>)> = BTreeMap::new();
    for route in routes {
        let path = route.uri.path();
        paths.entry(shape(path)).or_insert((path, Vec::new())).1.push(route.method);
    }
    paths
        .into_values()
        .flat_map(|(path, supported)| {
            let allowed = UnsupportedMethod { allowed: allow_header(&supported) };
            let others = METHODS.into_iter().filter(move |method| !supported.contains(method));
            others.map(move |method| Route::new(method, path, allowed.clone()))
        })
        .collect()
}

/// Returns the value of `Allow`: the methods in a fixed order. `GET` implies `HEAD`; `OPTIONS` is always allowed.
pub(super) fn allow_header(methods: &[Method]) -> String {
    const ORDER: [Method; 7] = [
        Method::Get,
        Method::Head,
        Method::Post,
        Method::Put,
        Method::Delete,
        Method::Patch,
        Method::Options,
    ];
    let as_known = |method| if method == Method::Head { Method::Get } else { method };
    let allowed =
        ORDER.into_iter().filter(|&method| method == Method::Options || methods.contains(&as_known(method)));
    allowed.map(Method::as_str).collect::<Vec<_>>().join(", ")
}

#[derive(Clone)]
struct UnsupportedMethod {
    allowed: String,
}

#[rocket::async_trait]
impl Handler for UnsupportedMethod {
    async fn handle<'r>(&self, request: &'r Request<'_>, _data: Data<'r>) -> Outcome<'r> {
        if request.method() == Method::Options {
            Outcome::Success(self.preflight(request))
        } else {
            Outcome::from(request, Problem::method_not_allowed(&self.allowed))
        }
    }
}

impl UnsupportedMethod {
    /// Responds to a preflight request: allows any header and the methods of the path. Browsers may cache the response for a day.
    fn preflight<'r>(&self, request: &Request<'_>) -> Response<'r> {
        let headers = request.headers().get_one("Access-Control-Request-Headers");
        Response::build()
            .status(Status::NoContent)
            .raw_header("Allow", self.allowed.clone())
            .raw_header("Access-Control-Allow-Methods", self.allowed.clone())
            .raw_header("Access-Control-Allow-Headers", headers.unwrap_or("*").to_owned())
            .raw_header("Access-Control-Max-Age", "86400")
            .raw_header("Vary", "Access-Control-Request-Headers")
            .finalize()
    }
}
