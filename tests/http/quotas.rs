//! How many requests a client may send.

use std::net::SocketAddr;

use figment::Figment;
use figment::providers::Serialized;
use rocket::http::{Method, Status};
use rocket::local::blocking::LocalResponse;
use serde_json::json;
use siaga::auth::KeyDigest;

use crate::suite::support::{ADMIN_KEY, KEY, Siaga, figment, json_of, key};

/// A public read that counts as a whole request each time.
const COUNTED: &str = "/v1/sources";

/// A service that gives each client three requests, none of which comes back while a test runs.
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

/// The statuses of several requests, one after the other.
fn statuses(siaga: &Siaga, peer: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| siaga.get_from(peer, COUNTED).status().code).collect()
}

#[test]
fn a_request_too_many_is_429_with_the_time_to_wait() {
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
    assert_eq!(
        json_of(response),
        json!({
            "statusCode": 429, "error": "Too Many Requests",
            "message": "too many requests; try again after the seconds Retry-After says",
        })
    );
}

#[test]
fn every_counted_answer_says_where_its_client_stands_in_the_tighter_window() {
    let siaga = started(with(&[("per_second", 1_000), ("burst", 10), ("per_day", 5)]));
    let remaining: Vec<String> = ["/v1/floods", "/v1/nothing", "/v1/floods?city=x"]
        .iter()
        .map(|target| {
            let response = siaga.get_from("192.0.2.1", target);
            assert_eq!(response.headers().get_one("RateLimit-Limit"), Some("5"), "{target}");
            response.headers().get_one("RateLimit-Remaining").unwrap().to_owned()
        })
        .collect();
    assert_eq!(remaining, ["4", "3", "2"]);
    let siaga = started(with(&[("per_second", 1), ("burst", 4), ("per_day", 100)]));
    let response = siaga.get_from("192.0.2.1", "/v1/floods");
    assert_eq!(response.headers().get_one("RateLimit-Limit"), Some("4"));
    assert_eq!(response.headers().get_one("RateLimit-Reset"), Some("1"));
}

#[test]
fn addresses_are_counted_apart_and_an_ipv6_network_as_one() {
    let siaga = started(three());
    assert_eq!(statuses(&siaga, "192.0.2.1", 4), [200, 200, 200, 429]);
    assert_eq!(statuses(&siaga, "192.0.2.2", 1), [200]);
    assert_eq!(statuses(&siaga, "::ffff:192.0.2.1", 1), [429]);
    assert_eq!(statuses(&siaga, "2001:db8:0:1::1", 2), [200, 200]);
    assert_eq!(statuses(&siaga, "2001:db8:0:1:ffff::2", 2), [200, 429]);
    assert_eq!(statuses(&siaga, "2001:db8:0:2::1", 1), [200]);
}

#[test]
fn a_credential_is_counted_wherever_it_comes_from_and_apart_from_its_address() {
    let siaga = started(three());
    let ask = |peer: &str, of: &str| {
        siaga.client.get(COUNTED).remote(from(peer)).header(key(of)).dispatch().status().code
    };
    let peers = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
    assert_eq!(peers.map(|peer| ask(peer, KEY)), [200, 200, 200, 429]);
    assert_eq!(ask("192.0.2.1", ADMIN_KEY), 200);
    assert_eq!(statuses(&siaga, "192.0.2.1", 4), [200, 200, 200, 429]);
    assert_eq!(ask("192.0.2.1", ADMIN_KEY), 200);
}

#[test]
fn a_key_can_have_quotas_of_its_own() {
    let own = |name: &str, quota: &str, number: u32| json!({ "name": name, "sha256": KeyDigest::of(name).to_hex(), "scopes": [], quota: number });
    let keys = [own("a second's", "per_second", 3), own("a day's", "per_day", 2)];
    let siaga = started(
        with(&[("credential.per_second", 100)]).merge(Serialized::default("siaga.auth.api_keys", keys)),
    );
    let limit = |of: &str| {
        let request = siaga.client.get(COUNTED).remote(from("192.0.2.1"));
        let response = request.header(key(of)).dispatch();
        response.headers().get_one("RateLimit-Limit").unwrap().parse::<u32>().unwrap()
    };
    assert_eq!((limit("a second's"), limit("a day's")), (9, 2), "three times a second's at once");
    let response = siaga.get_from("192.0.2.1", COUNTED);
    assert_eq!(response.headers().get_one("RateLimit-Limit"), Some("40"));
}

#[test]
fn a_wrong_credential_counts_for_its_address() {
    let siaga = started(three());
    let guess = |number: usize| {
        let request = siaga.client.get(COUNTED).remote(from("192.0.2.1"));
        request.header(key(&format!("guess {number}"))).dispatch().status().code
    };
    assert_eq!((0..4).map(guess).collect::<Vec<_>>(), [403, 403, 403, 429]);
}

#[test]
fn the_fuse_comes_before_any_credential() {
    let siaga = started(with(&[("per_second", 0), ("per_day", 0), ("fuse_per_second", 1)]));
    let ask = || {
        let request = siaga.client.get(COUNTED).remote(from("192.0.2.1"));
        request.header(key(ADMIN_KEY)).dispatch().status().code
    };
    let statuses: Vec<u16> = (0..50).map(|_| ask()).collect();
    assert_eq!(statuses[0], 200);
    assert!(statuses.contains(&429), "{statuses:?}");
    // It is the address that waits, not the credential.
    let elsewhere = siaga.client.get(COUNTED).remote(from("192.0.2.2")).header(key(ADMIN_KEY));
    assert_eq!(elsewhere.dispatch().status(), Status::Ok);
}

#[test]
fn quotas_of_0_count_nothing() {
    let siaga = started(with(&[("per_second", 0), ("per_day", 0), ("fuse_per_second", 0)]));
    assert_eq!(statuses(&siaga, "192.0.2.1", 300), [200; 300]);
    assert_eq!(siaga.get_from("192.0.2.1", "/v1/floods").headers().get_one("RateLimit-Limit"), None);
}

#[test]
fn requests_by_no_connection_are_not_counted() {
    let siaga = started(three());
    for _ in 0..10 {
        let response = siaga.get(COUNTED);
        assert_eq!(response.status(), Status::Ok);
        assert_eq!(response.headers().get_one("RateLimit-Limit"), None);
    }
}

#[test]
fn health_checks_and_metrics_with_a_token_are_not_counted() {
    let siaga = started(three().merge(Serialized::default("siaga.metrics.token", "a token")));
    assert_eq!(statuses(&siaga, "192.0.2.1", 4), [200, 200, 200, 429]);
    for target in ["/health", "/health/ready", "/metrics"] {
        let response = siaga.get_from("192.0.2.1", target);
        assert_ne!(response.status(), Status::TooManyRequests, "{target}");
        assert_eq!(response.headers().get_one("RateLimit-Limit"), None);
    }
}

#[test]
fn metrics_without_a_token_are_counted_as_anything_else() {
    let siaga = started(three().merge(Serialized::default("siaga.metrics.enabled", true)));
    let statuses = [200, 200, 200, 429];
    assert_eq!(statuses.map(|_| siaga.get_from("192.0.2.1", "/metrics").status().code), statuses);
}

#[test]
fn no_method_of_any_path_escapes() {
    const METHODS: [Method; 9] = [
        Method::Get,
        Method::Head,
        Method::Put,
        Method::Post,
        Method::Delete,
        Method::Options,
        Method::Trace,
        Method::Connect,
        Method::Patch,
    ];
    let siaga = started(with(&[("per_second", 0), ("per_day", 1)]));
    assert_eq!(statuses(&siaga, "192.0.2.1", 2), [200, 429]);
    let known = siaga.client.rocket().routes().filter(|route| route.name.is_some());
    let known = known.map(|route| route.uri.to_string());
    let mut targets: Vec<String> = known.filter(|uri| uri.starts_with("/v1/")).collect();
    assert!(targets.len() > 25);
    targets.extend(
        ["/", "/v1", "/v1/nothing", "/v1/floods/", "//v1//floods", "/:diverted:", "/x?a=b"]
            .map(str::to_owned),
    );
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

#[test]
fn the_path_of_refused_requests_is_nothing_by_itself() {
    let siaga = started(three());
    assert_eq!(siaga.get_from("192.0.2.1", "/:diverted:").status(), Status::NotFound);
    assert_eq!(siaga.get("/:diverted:").status(), Status::NotFound);
}

#[test]
fn a_trial_on_the_machine_itself_is_not_counted_and_a_public_address_is() {
    let trial = started(figment());
    assert_eq!(statuses(&trial, "192.0.2.1", 60), [200; 60]);
    assert!(trial.get_from("192.0.2.1", COUNTED).headers().get_one("RateLimit-Limit").is_none());
    let public =
        started(figment().merge(Serialized::default("siaga.base_url", "https://data.example.org/v1")));
    let counted = public.get_from("192.0.2.1", COUNTED);
    let header = |name| counted.headers().get_one(name);
    assert_eq!([header("RateLimit-Limit"), header("RateLimit-Remaining")], [Some("40"), Some("39")]);
}

/// What is left to the client after its request.
fn remaining(response: &LocalResponse<'_>) -> u32 {
    response.headers().get_one("RateLimit-Remaining").unwrap().parse().unwrap()
}

#[test]
fn a_period_that_is_rendered_costs_as_many_requests_as_it_is_large() {
    let siaga = started(with(&[("per_second", 0), ("per_day", 100)]));
    let asked = |target: &str| {
        let response = siaga.get_from("192.0.2.1", target);
        assert_eq!(response.status(), Status::Ok, "{target}");
        remaining(&response)
    };
    // A year is 8,784 hours, of 1 KiB each.
    let year = "/v1/floods/timeseries?start=2016-01-01T00:00:00Z&end=2016-12-31T23:00:00Z";
    assert_eq!(asked(year), 100 - 1 - 8);
    assert_eq!(asked(year), 90, "it is cached");
    assert_eq!(asked(&format!("{year}&city=jbd")), 82, "another; the cached one was given back");
    let head = siaga.client.head(format!("{year}&city=bdg")).remote(from("192.0.2.1")).dispatch();
    assert_eq!(remaining(&head), 81, "nothing is rendered");
    let day = "start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";
    assert_eq!(asked(&format!("/v1/floods/archive?{day}")), 80, "a short one is a request like others");
    assert_eq!(asked("/v1/floods"), 79);
}

#[test]
fn a_period_too_many_is_429_for_the_client_that_starts_it_alone() {
    let siaga = started(with(&[("per_second", 0), ("per_day", 12)]));
    let year = |number: u32| {
        format!("/v1/floods/timeseries?start=2016-01-01T00:00:{number:02}Z&end=2016-12-31T23:00:00Z")
    };
    let first = year(1);
    let response = siaga.get_from("192.0.2.1", &first);
    assert_eq!(
        (response.status(), remaining(&response)),
        (Status::Ok, 5),
        "at most half of what is allowed at once"
    );
    drop(response);
    let address = year(2);
    let refused = siaga.get_from("192.0.2.1", &address);
    assert_eq!((refused.status(), remaining(&refused)), (Status::TooManyRequests, 4));
    let wait: u64 = refused.headers().get_one("Retry-After").unwrap().parse().unwrap();
    assert!((14_000..=14_400).contains(&wait), "two of twelve a day are missing: {wait}");
    assert_eq!(
        json_of(refused)["message"],
        "too many requests; try again after the seconds Retry-After says"
    );
    assert_eq!(siaga.get_from("192.0.2.1", &first).status(), Status::Ok, "it is cached");
    assert_eq!(siaga.get_from("192.0.2.1", "/v1/floods").status(), Status::Ok);
    assert_eq!(siaga.get_from("198.51.100.1", &address).status(), Status::Ok, "another client");
}
