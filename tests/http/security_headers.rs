//! Security headers and CORS.

use rocket::http::{Header, Method, Status};
use serde_json::json;

use crate::suite::support::{Siaga, figment};

#[test]
fn every_response_has_the_header_of_the_service_and_a_policy_that_runs_nothing() {
    let siaga = Siaga::start();
    let tag = siaga.get("/v1/floods").headers().get_one("ETag").unwrap().to_owned();
    for (method, target, status) in [
        (Method::Get, "/v1/floods?geoformat=geojson", 200),
        (Method::Get, "/v1/floods?geoformat=cap", 200),
        (Method::Get, "/v1/floods", 304),
        (Method::Head, "/v1/floods?geoformat=cap", 200),
        (Method::Get, "/v1/floods?city=x", 400),
        (Method::Get, "/nothing", 404),
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
        let request = siaga.client.req(method, target).header(Header::new("If-None-Match", tag.clone()));
        let response = request.dispatch();
        assert_eq!(response.status().code, status, "{method} {target}");
        let all = |name| response.headers().get(name).collect::<Vec<_>>();
        assert_eq!(all("Siaga-Version"), [env!("CARGO_PKG_VERSION")], "{method} {target}");
        for pointless in ["Permissions-Policy", "X-Frame-Options", "Strict-Transport-Security"] {
            assert_eq!(all(pointless), [""; 0], "{pointless} of {method} {target}");
        }
        if !target.starts_with("/v1") || status == 304 {
            continue;
        }
        for (name, value) in [
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
        ] {
            assert_eq!(all(name), [value], "{name} of {method} {target}");
        }
    }
}

#[test]
fn hsts_is_sent_over_https() {
    let figment = figment().merge(("siaga.https.hsts", "365d"));
    let figment = figment.merge(("siaga.quota.trusted_proxies", ["10.0.0.1"]));
    let siaga = Siaga::with(figment, |builder| builder);
    for (peer, proto, expected) in [
        ("10.0.0.1:1", "https", Some("max-age=31536000")),
        ("10.0.0.1:1", "HTTPS", Some("max-age=31536000")),
        ("10.0.0.1:1", "http", None),
        ("10.0.0.1:1", "", None),
        ("10.0.0.2:1", "https", None),
    ] {
        for target in ["/v1/floods", "/nothing"] {
            let request = siaga.client.get(target).remote(peer.parse().unwrap());
            let response = request.header(Header::new("X-Forwarded-Proto", proto)).dispatch();
            let hsts = response.headers().get_one("Strict-Transport-Security");
            assert_eq!(hsts, expected, "{target} by {proto:?} from {peer}");
        }
    }
}

#[test]
fn a_page_of_a_template_has_a_policy_that_runs_nothing_and_its_304_does_not_replace_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, "<!doctype html>{% for f in features %}<p>{{ f.properties.pkey }}</p>{% endfor %}")
        .unwrap();
    let template = json!({ "file": file, "media_type": "text/html; charset=utf-8", "layers": ["reports"] });
    let formats = json!({ "enabled": ["topojson", "page"], "template": { "page": template } });
    let siaga = Siaga::with_setting("siaga.formats", formats);
    let page = siaga.get("/v1/reports?geoformat=page");
    let policy = page.headers().get_one("Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline';"), "{policy}");
    let tag = page.headers().get_one("ETag").unwrap().to_owned();
    let known = siaga.client.get("/v1/reports?geoformat=page").header(Header::new("If-None-Match", tag));
    let known = known.dispatch();
    assert_eq!(known.status().code, 304);
    for name in ["Content-Security-Policy", "Referrer-Policy", "X-Content-Type-Options"] {
        assert_eq!(known.headers().get_one(name), None, "{name}");
    }
}

#[test]
fn cors_allows_every_origin_to_read_every_response() {
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
fn a_preflight_allows_the_methods_of_the_path_and_the_requested_headers() {
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
