//! Every mounted route that writes or returns private data needs a credential.

use rocket::Route;
use rocket::http::uri::Origin;
use rocket::http::{Method, Status};
use rocket::local::blocking::Client;

use crate::suite::support::{KEY, OTHER_KEY, Siaga, json_of, key};

/// The only route with a signed address as credential.
const SIGNED: (Method, &str) = (Method::Put, "/v1/uploads/<_>");

/// The form for residents: 404 unless cards are open; then the identifier of a card is the credential.
const FORM: &str = "/report";
const PUSH: &str = "/v1/push/subscriptions";

/// The only route with the credential in a form.
const LOGIN: (Method, &str) = (Method::Post, "/desk/login");

/// Prefixes of paths that need a credential for every method; logs need one everywhere.
const PROTECTED: [&str; 3] = ["/v1/cards", "/v1/feeds", "/v1/floods/attention"];

/// Whether a route must reject requests without a credential.
fn must_refuse(route: &Route) -> bool {
    let path = route.uri.path();
    let protected = PROTECTED.iter().any(|begin| path == *begin || path.starts_with(&format!("{begin}/")))
        || path.ends_with("/log");
    let safe = matches!(route.method, Method::Get | Method::Head | Method::Options);
    // The internal route of rejected requests, which is 404 when requested directly.
    let diverted = path == "/:diverted:";
    (protected || !safe)
        && !diverted
        && route.method != Method::Options
        && ![SIGNED, LOGIN].contains(&(route.method, path))
}

/// An address that matches the route.
fn address(route: &Route) -> String {
    let part = |part: &str| if part.starts_with('<') { "1".to_owned() } else { part.to_owned() };
    let path: Vec<_> = route.uri.path().split('/').map(part).collect();
    let path = path.join("/");
    assert!(Origin::parse(&path).is_ok(), "{path}");
    path
}

/// The routes that must reject requests without a credential but do not. Excludes routes that return 405
/// for methods a path does not allow.
fn open(client: &Client) -> Vec<String> {
    let mut open = Vec::new();
    let mut refused = 0;
    for route in client.rocket().routes().filter(|route| must_refuse(route)) {
        let address = address(route);
        let response = client.req(route.method, address.as_str()).body("{}").dispatch();
        match response.status() {
            Status::Forbidden => {
                refused += 1;
                let body = json_of(response);
                assert!(body["message"].as_str().unwrap().contains("a valid credential"), "{body}");
            }
            Status::Unauthorized if route.uri.path().starts_with("/desk/") => refused += 1,
            Status::MethodNotAllowed => {}
            Status::NotFound if route.uri.path().starts_with(FORM) => {}
            // Residents need no credential. The configuration enables no push messages.
            Status::NotFound if route.uri.path().starts_with(PUSH) => {}
            status => open.push(format!("{} {}: {status}", route.method, route.uri.path())),
        }
    }
    assert!(refused >= 11, "{refused} routes only: those that write are not among what was tried");
    open
}

#[test]
fn every_route_that_writes_and_all_of_cards_and_feeds_need_a_credential() {
    assert_eq!(open(&Siaga::start().client), Vec::<String>::new());
}

#[test]
fn a_key_of_another_scope_is_refused() {
    let siaga = Siaga::start();
    for (method, address, other) in [
        (Method::Put, "/v1/floods/5", OTHER_KEY),
        (Method::Post, "/v1/floods/changes", OTHER_KEY),
        (Method::Post, "/v1/floods/changes/1/undo", OTHER_KEY),
        (Method::Get, "/v1/floods/log", OTHER_KEY),
        (Method::Get, "/v1/floods/5/log", OTHER_KEY),
        (Method::Get, "/v1/floods/attention", OTHER_KEY),
        (Method::Put, "/v1/floodgauges", KEY),
        (Method::Get, "/v1/feeds", KEY),
        (Method::Get, "/v1/cards/used-card/images", KEY),
        (Method::Put, "/v1/reports/7/visibility", KEY),
    ] {
        let response = siaga.client.req(method, address).header(key(other)).body("{}").dispatch();
        assert_eq!(response.status(), Status::Forbidden, "{method} {address}");
    }
    let right = siaga.client.put("/v1/floodgauges").header(key(OTHER_KEY)).body("{}").dispatch();
    assert_eq!(right.status(), Status::BadRequest);
}
