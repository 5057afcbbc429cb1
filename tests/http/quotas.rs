//! Quotas.

use std::net::SocketAddr;

use figment::Figment;
use figment::providers::Serialized;
use rocket::http::Method::{self, Connect, Delete, Get, Head, Options, Patch, Post, Put, Trace};
use rocket::http::Status;
use rocket::local::blocking::LocalResponse;
use serde_json::json;
use siaga::auth::KeyDigest;

use crate::suite::support::{ADMIN_KEY, KEY, Siaga, figment, json_of, key};

/// A public read that always counts as a whole request.
const COUNTED: &str = "/v1/sources";

pub(crate) const METHODS: [Method; 9] = [Get, Head, Put, Post, Delete, Options, Trace, Connect, Patch];

/// A configuration with three requests per client that do not refill during a test.
fn three() -> Figment {
    with(&[("per_second", 0), ("per_day", 3)])
}

fn with(quota: &[(&str, u32)]) -> Figment {
    quota.iter().fold(figment(), |figment, (name, number)| {
        figment.merge(Serialized::default(&format!("siaga.quota.{name}"), number))
    })
}

fn started(figment: Figment) -> Siaga {
    Siaga::with(figment, |builder| builder)
}

fn from(address: &str) -> SocketAddr {
    SocketAddr::new(address.parse().unwrap(), 4711)
}

fn status_with(siaga: &Siaga, peer: &str, key_text: &str) -> u16 {
    siaga.client.get(COUNTED).remote(from(peer)).header(key(key_text)).dispatch().status().code
}

/// The statuses of sequential requests.
fn statuses(siaga: &Siaga, peer: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| siaga.get_from(peer, COUNTED).status().code).collect()
}

#[test]
fn a_request_over_the_limit_is_429_with_retry_after() {
    let siaga = started(three());
    assert_eq!(statuses(&siaga, "192.0.2.1", 4), [200, 200, 200, 429]);
    let response = siaga.get_from("192.0.2.1", COUNTED);
    assert_eq!(response.status(), Status::TooManyRequests);
    let header = |name| response.headers().get_one(name).unwrap().to_owned();
    let wait: u64 = header("Retry-After").parse().unwrap();
    assert!((28_000..=28_800).contains(&wait), "a third of a day: {wait}");
    assert_eq!(header("RateLimit-Limit"), "3");
    assert_eq!(header("RateLimit-Remaining"), "0");
    let reset: u64 = header("RateLimit-Reset").parse().unwrap();
    assert!((86_000..=86_400).contains(&reset), "{reset}");
    assert_eq!(header("Cache-Control"), "no-store");
    assert_eq!(header("Access-Control-Allow-Origin"), "*");
    assert_eq!(header("X-Content-Type-Options"), "nosniff");
    assert!(header("Access-Control-Expose-Headers").contains("RateLimit-Remaining"));
    let body = json_of(response);
    assert_eq!((&body["statusCode"], &body["error"]), (&json!(429), &json!("Too Many Requests")));
}

#[test]
fn every_counted_response_has_the_rate_limit_headers_of_the_tighter_window() {
    let siaga = started(with(&[("per_second", 1_000), ("burst", 10), ("per_day", 5)]));
    for (target, left) in [("/v1/floods", 4), ("/v1/nothing", 3), ("/v1/floods?city=x", 2)] {
        let response = siaga.get_from("192.0.2.1", target);
        assert_eq!(response.headers().get_one("RateLimit-Limit"), Some("5"), "{target}");
        assert_eq!(remaining(&response), left, "{target}");
    }
    let siaga = started(with(&[("per_second", 1), ("burst", 4), ("per_day", 100)]));
    let response = siaga.get_from("192.0.2.1", "/v1/floods");
    assert_eq!(response.headers().get_one("RateLimit-Limit"), Some("4"));
    assert_eq!(response.headers().get_one("RateLimit-Reset"), Some("1"));
}

#[test]
fn a_credential_is_counted_across_addresses_and_apart_from_them() {
    let siaga = started(three());
    let peers = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
    assert_eq!(peers.map(|peer| status_with(&siaga, peer, KEY)), [200, 200, 200, 429]);
    assert_eq!(status_with(&siaga, "192.0.2.1", ADMIN_KEY), 200);
    assert_eq!(statuses(&siaga, "192.0.2.1", 4), [200, 200, 200, 429]);
    assert_eq!(status_with(&siaga, "192.0.2.1", ADMIN_KEY), 200);
}

#[test]
fn a_key_can_have_quotas_of_its_own() {
    let own = |name: &str, quota: &str, number: u32| json!({ "name": name, "sha256": KeyDigest::new(name).to_hex(), "scopes": [], quota: number });
    let keys = [own("a second's", "per_second", 3), own("a day's", "per_day", 2)];
    let siaga = started(
        with(&[("credential.per_second", 100)]).merge(Serialized::default("siaga.auth.api_keys", keys)),
    );
    let limit = |key_text: &str| {
        let request = siaga.client.get(COUNTED).remote(from("192.0.2.1"));
        let response = request.header(key(key_text)).dispatch();
        response.headers().get_one("RateLimit-Limit").unwrap().parse::<u32>().unwrap()
    };
    assert_eq!((limit("a second's"), limit("a day's")), (9, 2), "three times a second's at once");
    let response = siaga.get_from("192.0.2.1", COUNTED);
    assert_eq!(response.headers().get_one("RateLimit-Limit"), Some("40"));
}

#[test]
fn a_wrong_credential_is_counted_for_its_address() {
    let siaga = started(three());
    let guess = |number| status_with(&siaga, "192.0.2.1", &format!("guess {number}"));
    assert_eq!([0, 1, 2, 3].map(guess), [403, 403, 403, 429]);
}

#[test]
fn the_fuse_applies_before_any_credential() {
    let siaga = started(with(&[("per_second", 0), ("per_day", 0), ("fuse_per_second", 1)]));
    let statuses: Vec<u16> = (0..50).map(|_| status_with(&siaga, "192.0.2.1", ADMIN_KEY)).collect();
    assert_eq!(statuses[0], 200);
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(
        status_with(&siaga, "192.0.2.2", ADMIN_KEY),
        200,
        "it is the address that waits, not the credential"
    );
}

#[test]
fn some_requests_are_not_counted() {
    let metrics = || three().merge(("siaga.metrics.enabled", true));
    let none = with(&[("per_second", 0), ("per_day", 0), ("fuse_per_second", 0)]);
    for (name, figment, peer, target) in [
        ("quotas of 0", none, Some("192.0.2.1"), COUNTED),
        ("a trial on the machine itself", figment(), Some("192.0.2.1"), COUNTED),
        ("by no connection", three(), None, COUNTED),
        ("health", three(), Some("192.0.2.1"), "/health"),
        (
            "metrics with a token",
            metrics().merge(("siaga.metrics.token", "a token")),
            Some("192.0.2.1"),
            "/metrics",
        ),
    ] {
        let siaga = started(figment);
        for number in 0..300 {
            let response = peer.map_or_else(|| siaga.get(target), |peer| siaga.get_from(peer, target));
            assert_ne!(response.status(), Status::TooManyRequests, "{name} {number}");
            assert_eq!(response.headers().get_one("RateLimit-Limit"), None, "{name}");
        }
    }
    let public = figment().merge(("siaga.base_url", "https://data.example.org/v1"));
    for (figment, target, expected) in
        [(metrics(), "/metrics", "3"), (public, COUNTED, "40"), (three(), "/:diverted:", "3")]
    {
        let siaga = started(figment);
        let counted = siaga.get_from("192.0.2.1", target);
        assert_eq!(counted.headers().get_one("RateLimit-Limit"), Some(expected), "{target}");
        assert_eq!(counted.status() == Status::NotFound, target == "/:diverted:");
    }
}

#[test]
fn every_method_of_every_path_is_counted() {
    let siaga = started(with(&[("per_second", 0), ("per_day", 1)]));
    assert_eq!(statuses(&siaga, "192.0.2.1", 2), [200, 429]);
    let known = siaga.client.rocket().routes().filter(|route| route.name.is_some());
    let known = known.map(|route| route.uri.to_string());
    let mut targets: Vec<String> = known.filter(|uri| uri.starts_with("/v1/")).collect();
    assert!(targets.len() > 25);
    let others = ["/", "/v1", "/v1/nothing", "/v1/floods/", "//v1//floods", "/:diverted:", "/x?a=b"];
    targets.extend(others.map(str::to_owned));
    for target in &targets {
        let target = target.replace(['<', '>'], "");
        for method in METHODS {
            for form in [false, true] {
                let mut request = siaga.client.req(method, target.clone()).remote(from("192.0.2.1"));
                if form {
                    request = request.header(rocket::http::ContentType::Form).body("_method=delete");
                }
                let response = request.dispatch();
                assert_eq!(response.status(), Status::TooManyRequests, "{method} {target}");
                assert!(response.headers().get_one("Retry-After").is_some(), "{method} {target}");
                assert_eq!(response.headers().get_one("RateLimit-Remaining"), Some("0"));
            }
        }
    }
}

/// `RateLimit-Remaining`.
fn remaining(response: &LocalResponse<'_>) -> u32 {
    response.headers().get_one("RateLimit-Remaining").unwrap().parse().unwrap()
}

#[test]
fn the_cost_of_a_rendered_period_grows_with_its_length() {
    let siaga = started(with(&[("per_second", 0), ("per_day", 100)]));
    let fetch = |target: &str| {
        let response = siaga.get_from("192.0.2.1", target);
        assert_eq!(response.status(), Status::Ok, "{target}");
        remaining(&response)
    };
    // A year is 8,784 hours, of 1 KiB each.
    let year = "/v1/floods/timeseries?start=2016-01-01T00:00:00Z&end=2016-12-31T23:00:00Z";
    assert_eq!(fetch(year), 100 - 1 - 8);
    assert_eq!(fetch(year), 90, "it is cached");
    assert_eq!(fetch(&format!("{year}&city=jbd")), 82, "another; the cached one was given back");
    let head = siaga.client.head(format!("{year}&city=bdg")).remote(from("192.0.2.1")).dispatch();
    assert_eq!(remaining(&head), 81, "nothing is rendered");
    let day = "start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";
    assert_eq!(fetch(&format!("/v1/floods/archive?{day}")), 80, "a short one is a request like others");
    assert_eq!(fetch("/v1/floods"), 79);
}

#[test]
fn a_period_over_the_limit_is_429_only_for_the_client_that_starts_it() {
    let siaga = started(with(&[("per_second", 0), ("per_day", 12)]));
    let year = |number: u32| {
        format!("/v1/floods/timeseries?start=2016-01-01T00:00:{number:02}Z&end=2016-12-31T23:00:00Z")
    };
    let first = year(1);
    let response = siaga.get_from("192.0.2.1", &first);
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(remaining(&response), 5, "at most half of what is allowed at once");
    drop(response);
    let address = year(2);
    let refused = siaga.get_from("192.0.2.1", &address);
    assert_eq!((refused.status(), remaining(&refused)), (Status::TooManyRequests, 4));
    let wait: u64 = refused.headers().get_one("Retry-After").unwrap().parse().unwrap();
    assert!((14_000..=14_400).contains(&wait), "two of twelve a day are missing: {wait}");
    drop(refused);
    assert_eq!(siaga.get_from("192.0.2.1", &first).status(), Status::Ok, "it is cached");
    assert_eq!(siaga.get_from("192.0.2.1", "/v1/floods").status(), Status::Ok);
    assert_eq!(siaga.get_from("198.51.100.1", &address).status(), Status::Ok, "another client");
}
