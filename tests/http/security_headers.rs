//! What browsers are told not to do.

use figment::providers::Serialized;
use rocket::http::{Header, Method};

use crate::suite::support::{Siaga, figment};

#[test]
fn every_answer_is_taken_for_what_it_is_and_runs_nothing() {
    let siaga = Siaga::start();
    for (method, target) in [
        (Method::Get, "/v1/floods"),
        (Method::Get, "/v1/floods?geoformat=cap"),
        (Method::Head, "/v1/floods"),
        (Method::Get, "/v1/floods?city=x"),
        (Method::Get, "/nothing"),
        (Method::Post, "/v1/floods"),
        (Method::Options, "/v1/floods"),
        (Method::Put, "/v1/floods/5"),
    ] {
        let response = siaga.client.req(method, target).dispatch();
        let all = |name| response.headers().get(name).collect::<Vec<_>>();
        assert_eq!(all("X-Content-Type-Options"), ["nosniff"], "{method} {target}");
        assert_eq!(all("Referrer-Policy"), ["no-referrer"], "{method} {target}");
        assert_eq!(
            all("Content-Security-Policy"),
            ["default-src 'none'; frame-ancestors 'none'"],
            "{method} {target}"
        );
        for pointless in ["Permissions-Policy", "X-Frame-Options", "Strict-Transport-Security"] {
            assert_eq!(all(pointless), [""; 0], "{pointless} of {method} {target}");
        }
    }
}

#[test]
fn browsers_are_told_to_stay_with_https_when_they_use_it() {
    let figment = figment()
        .merge(Serialized::default("siaga.https.hsts", "365d"))
        .merge(Serialized::default("siaga.quota.trusted_proxies", ["10.0.0.1"]));
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
fn a_page_of_a_template_runs_nothing_either_and_stays_as_it_is_while_it_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, "<!doctype html>{% for f in features %}<p>{{ f.properties.pkey }}</p>{% endfor %}")
        .unwrap();
    let figment = figment()
        .merge(("siaga.formats.enabled", ["topojson", "page"]))
        .merge(("siaga.formats.template.page.file", file.to_str().unwrap()))
        .merge(("siaga.formats.template.page.media_type", "text/html; charset=utf-8"))
        .merge(("siaga.formats.template.page.layers", ["reports"]));
    let siaga = Siaga::with(figment, |builder| builder);
    let page = siaga.get("/v1/reports?geoformat=page");
    let policy = page.headers().get_one("Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline';"), "{policy}");
    let tag = page.headers().get_one("ETag").unwrap().to_owned();
    let known = siaga.client.get("/v1/reports?geoformat=page").header(Header::new("If-None-Match", tag));
    let known = known.dispatch();
    assert_eq!(known.status().code, 304);
    for kept in ["Content-Security-Policy", "Referrer-Policy", "X-Content-Type-Options"] {
        assert_eq!(known.headers().get_one(kept), None, "{kept}");
    }
}
