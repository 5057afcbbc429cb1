//! Trusted proxies: client address, request id and scheme.

use std::net::SocketAddr;

use figment::Figment;
use rocket::http::{Header, Status};
use rocket::local::blocking::LocalResponse;

use crate::suite::support::{Siaga, figment};

/// A configuration that allows one request per client.
fn one_a_day(figment: Figment) -> Figment {
    figment.merge(("siaga.quota.per_second", 0)).merge(("siaga.quota.per_day", 1))
}

fn trusting(figment: Figment) -> Figment {
    figment.merge(("siaga.quota.trusted_proxies", ["10.0.0.0/8", "fd00::/8"]))
}

fn get<'c>(
    siaga: &'c Siaga,
    peer: &str,
    headers: &[(&'static str, &'static str)],
    target: &'c str,
) -> LocalResponse<'c> {
    let mut request = siaga.client.get(target).remote(SocketAddr::new(peer.parse().unwrap(), 4711));
    for (name, value) in headers {
        request.add_header(Header::new(*name, *value));
    }
    request.dispatch()
}

/// Whether requests with this peer and headers count for an address: its second request is then rejected.
fn is_from(address: &'static str, peer: &str, headers: &[(&'static str, &'static str)]) -> bool {
    let siaga = Siaga::with(one_a_day(trusting(figment())), |builder| builder);
    let target = "/v1/sources";
    assert_eq!(get(&siaga, peer, headers, target).status(), Status::Ok);
    get(&siaga, "10.9.9.9", &[("X-Forwarded-For", address)], target).status() == Status::TooManyRequests
}

#[test]
fn only_a_trusted_proxy_sets_the_client_address() {
    for (address, peer, headers) in [
        ("192.0.2.1", "192.0.2.1", &[][..]),
        ("192.0.2.1", "192.0.2.1", &[("X-Forwarded-For", "198.51.100.1")]),
        ("192.0.2.1", "192.0.2.1", &[("X-Real-IP", "198.51.100.1")]),
        ("198.51.100.1", "10.0.0.1", &[("X-Forwarded-For", "198.51.100.1")]),
        ("198.51.100.1", "::ffff:10.0.0.1", &[("X-Forwarded-For", "198.51.100.1")]),
        ("2001:db8::1", "fd00::1", &[("X-Forwarded-For", "[2001:db8::1]:4711")]),
        ("198.51.100.1", "10.0.0.1", &[("X-Real-IP", "198.51.100.1")]),
        // Entries of the client stand before those of the proxies.
        ("198.51.100.1", "10.0.0.1", &[("X-Forwarded-For", "203.0.113.7, 198.51.100.1")]),
        ("198.51.100.1", "10.0.0.1", &[("X-Forwarded-For", "10.0.0.3, 198.51.100.1 ,10.0.0.2")]),
        ("192.0.2.3", "10.0.0.1", &[("X-Forwarded-For", "192.0.2.2"), ("X-Forwarded-For", "192.0.2.3")]),
        ("198.51.100.1", "10.0.0.1", &[("X-Forwarded-For", "198.51.100.1"), ("X-Real-IP", "203.0.113.7")]),
        ("10.0.0.2", "10.0.0.1", &[("X-Forwarded-For", "198.51.100.1, unknown, 10.0.0.2")]),
        ("10.0.0.1", "10.0.0.1", &[("X-Forwarded-For", "unknown"), ("X-Real-IP", "203.0.113.7")]),
        ("10.0.0.1", "10.0.0.1", &[("X-Forwarded-For", "")]),
        ("10.0.0.1", "10.0.0.1", &[("X-Real-IP", "203.0.113.7"), ("X-Real-IP", "203.0.113.8")]),
        ("10.0.0.1", "10.0.0.1", &[("Forwarded", "for=203.0.113.7")]),
    ] {
        assert!(is_from(address, peer, headers), "{headers:?} by {peer} is from {address}");
    }
    assert!(!is_from("203.0.113.7", "10.0.0.1", &[("X-Forwarded-For", "203.0.113.7, 198.51.100.1")]));
}

#[test]
fn no_proxy_is_trusted_unless_configured() {
    // Rocket's `ip_header` has no effect.
    let figment = one_a_day(figment()).merge(("ip_header", "X-Real-IP"));
    let siaga = Siaga::with(figment, |builder| builder);
    for (name, forged, expected) in [
        ("X-Forwarded-For", "198.51.100.1", Status::Ok),
        ("X-Forwarded-For", "198.51.100.2", Status::TooManyRequests),
        ("X-Real-IP", "198.51.100.3", Status::TooManyRequests),
    ] {
        let response = get(&siaga, "127.0.0.1", &[(name, forged)], "/v1/sources");
        assert_eq!(response.status(), expected, "{name}: {forged}");
    }
}

#[test]
fn the_request_id_of_a_trusted_proxy_is_used() {
    let siaga = Siaga::with(trusting(figment()), |builder| builder);
    let [long, longer] = [64, 65].map(|length| &*"x".repeat(length).leak());
    let id = |peer: &str, headers: &[(&'static str, &'static str)]| {
        let response = get(&siaga, peer, headers, "/v1/floods");
        response.headers().get_one("X-Request-Id").unwrap().to_owned()
    };
    for given in ["a", "4f1c-9.B_7", long] {
        assert_eq!(id("10.0.0.1", &[("X-Request-Id", given)]), given);
        assert_ne!(id("192.0.2.1", &[("X-Request-Id", given)]), given, "from anybody");
    }
    for given in ["", longer, "a b", "ä"] {
        let generated = id("10.0.0.1", &[("X-Request-Id", given)]);
        assert!(generated.len() == 16 && generated != given, "{given}: {generated}");
    }
    assert_eq!(id("10.0.0.1", &[("X-Request-Id", "a"), ("X-Request-Id", "b")]).len(), 16);
}

#[test]
fn requests_that_reached_a_trusted_proxy_by_http_are_redirected_to_https() {
    let figment = trusting(figment()).merge(("siaga.base_url", "https://data.example.org/v1"));
    let siaga = Siaga::with(figment, |builder| builder);
    let http = [("X-Forwarded-Proto", "http"), ("Host", "evil.example")];
    for target in ["/v1/floods?a=b&c=%0d%0aX", "/nothing", "//evil.example/x"] {
        let response = get(&siaga, "10.0.0.1", &http, target);
        assert_eq!(response.status(), Status::PermanentRedirect, "{target}");
        let location = response.headers().get_one("Location").unwrap();
        assert_eq!(location, format!("https://data.example.org{target}"));
    }
    let put = siaga.client.put("/v1/floods/5").remote("10.0.0.1:1".parse().unwrap());
    let put = put.header(Header::new("X-Forwarded-Proto", "http")).body("{}").dispatch();
    assert_eq!(put.status(), Status::PermanentRedirect);
    for (peer, headers, target) in [
        ("10.0.0.1", &[("X-Forwarded-Proto", "https")][..], "/v1/floods"),
        ("10.0.0.1", &[("X-Forwarded-Proto", "http, https")], "/v1/floods"),
        ("10.0.0.1", &[], "/v1/floods"),
        ("192.0.2.1", &http, "/v1/floods"),
    ] {
        assert_eq!(get(&siaga, peer, headers, target).status(), Status::Ok, "{peer} {headers:?}");
    }
    let health = get(&siaga, "10.0.0.1", &http, "/health").status();
    assert_ne!(health, Status::PermanentRedirect, "who asks for it follows nowhere");
    let plain = Siaga::with(trusting(crate::suite::support::figment()), |builder| builder);
    assert_eq!(get(&plain, "10.0.0.1", &http, "/v1/floods").status(), Status::Ok, "its address is by http");
}
