use rocket::http::{Header, Method, Status};

use crate::suite::support::Siaga;

#[test]
fn pages_of_any_origin_may_read_every_answer() {
    let siaga = Siaga::start();
    for address in ["/v1/floods", "/v1/floods?city=x", "/v1/nothing", "/v1/floods?geoformat=cap"] {
        let response =
            siaga.client.get(address).header(Header::new("Origin", "https://example.org")).dispatch();
        assert_eq!(response.headers().get_one("Access-Control-Allow-Origin"), Some("*"), "{address}");
        let exposed = response.headers().get_one("Access-Control-Expose-Headers").unwrap();
        assert!(exposed.contains("ETag") && exposed.contains("Retry-After"), "{exposed}");
    }
}

#[test]
fn a_preflight_allows_the_methods_of_the_path_and_the_headers_asked_for() {
    let siaga = Siaga::start();
    let response = siaga
        .client
        .req(Method::Options, "/v1/floods/5")
        .header(Header::new("Origin", "https://example.org"))
        .header(Header::new("Access-Control-Request-Method", "PUT"))
        .header(Header::new("Access-Control-Request-Headers", "content-type,x-api-key"))
        .dispatch();
    assert_eq!(response.status(), Status::NoContent);
    let header = |name| response.headers().get_one(name);
    assert_eq!(header("Access-Control-Allow-Origin"), Some("*"));
    assert_eq!(header("Access-Control-Allow-Methods"), Some("PUT, DELETE, OPTIONS"));
    assert_eq!(header("Access-Control-Allow-Headers"), Some("content-type,x-api-key"));
    assert_eq!(header("Access-Control-Max-Age"), Some("86400"));
}

#[test]
fn every_response_has_the_mark_of_the_service_which_scripts_may_read() {
    let siaga = Siaga::start();
    let tag = siaga.get("/v1/floods").headers().get_one("ETag").unwrap().to_owned();
    for (method, target, status) in [
        (Method::Get, "/v1/floods", 200),
        (Method::Head, "/v1/floods", 200),
        (Method::Get, "/v1/floods?city=x", 400),
        (Method::Get, "/v1/nothing", 404),
        (Method::Post, "/v1/floods", 405),
        (Method::Options, "/v1/floods", 204),
        (Method::Put, "/v1/floods/5", 403),
        (Method::Get, "/map", 200),
        (Method::Get, "/map/map.js", 200),
        (Method::Get, "/sw.js", 200),
        (Method::Get, "/report", 404),
        (Method::Get, "/desk", 200),
        (Method::Get, "/health/live", 200),
    ] {
        let response = siaga.client.req(method, target).dispatch();
        assert_eq!(response.status().code, status, "{method} {target}");
        let marks: Vec<_> = response.headers().get("Siaga-Version").collect();
        assert_eq!(marks, [env!("CARGO_PKG_VERSION")], "{method} {target}");
    }
    let known = siaga.client.get("/v1/floods").header(Header::new("If-None-Match", tag)).dispatch();
    assert_eq!(known.status(), Status::NotModified);
    assert_eq!(known.headers().get_one("Siaga-Version"), Some(env!("CARGO_PKG_VERSION")));
    let exposed = known.headers().get_one("Access-Control-Expose-Headers").unwrap();
    assert!(exposed.contains("Siaga-Version"), "{exposed}");
}
