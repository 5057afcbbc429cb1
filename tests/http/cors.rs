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
        let names = ["ETag", "Retry-After", "Siaga-Version"];
        assert!(names.iter().all(|name| exposed.contains(name)), "{exposed}");
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
