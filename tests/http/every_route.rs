//! Whatever is mounted: what changes something, and what is nobody's business, needs a credential.

use rocket::Route;
use rocket::http::uri::Origin;
use rocket::http::{Method, Status};
use rocket::local::blocking::Client;

use crate::suite::support::{KEY, OTHER_KEY, Siaga, json_of, key};

/// The one route whose address is signed, which is the credential.
const SIGNED: (Method, &str) = (Method::Put, "/v1/uploads/<_>");

/// The form for residents, which is not there unless cards are open: then the identifier of a card is the credential.
const FORM: &str = "/report";

/// The one route to which the credential comes in a form.
const LOGIN: (Method, &str) = (Method::Post, "/desk/login");

/// What begins the paths of which all routes need a credential, whatever their method; so do logs, wherever they are.
const PROTECTED: [&str; 3] = ["/v1/cards", "/v1/feeds", "/v1/floods/attention"];

/// Whether a route must refuse whoever has no credential.
fn must_refuse(route: &Route) -> bool {
    let path = route.uri.path();
    let protected = PROTECTED.iter().any(|begin| path == *begin || path.starts_with(&format!("{begin}/")))
        || path.ends_with("/log");
    let safe = matches!(route.method, Method::Get | Method::Head | Method::Options);
    // Where requests go that get no further: whoever asks for it themselves finds nothing.
    let diverted = path == "/:diverted:";
    (protected || !safe)
        && !diverted
        && route.method != Method::Options
        && ![SIGNED, LOGIN].contains(&(route.method, path))
}

/// An address the route answers.
fn address(route: &Route) -> String {
    let part = |part: &str| if part.starts_with('<') { "1".to_owned() } else { part.to_owned() };
    let path: Vec<_> = route.uri.path().split('/').map(part).collect();
    let path = path.join("/");
    assert!(Origin::parse(&path).is_ok(), "{path}");
    path
}

/// The routes that must refuse whoever has no credential and do not. Those that answer a method a path does not take are
/// none: they answer 405 to everybody.
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
            Status::MethodNotAllowed => {}
            Status::NotFound if route.uri.path().starts_with(FORM) => {}
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
