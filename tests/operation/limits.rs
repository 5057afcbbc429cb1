//! Oversized and excessive requests on real connections.

use serde_json::{Value, json};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use crate::eventually::eventually_blocking;
use crate::logs::lines as logged_lines;
use crate::running::{Running, send};

#[test]
fn oversized_addresses_and_headers_and_http_2_are_rejected_and_the_service_continues() {
    let service = Running::demo(&[]);
    let host = &service.authority;
    let line = |target: &str, rest: &str| {
        format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{rest}\r\n")
    };
    for (name, request) in [
        ("a query of 10 MB", line(&format!("/v1/floods?{}", "a".repeat(10 << 20)), "")),
        ("10,000 headers", line("/v1/floods", &"X: y\r\n".repeat(10_000))),
        ("a header of 1 MB", line("/v1/floods", &format!("X: {}\r\n", "y".repeat(1 << 20)))),
        ("a header with a control character", line("/v1/floods", "X: a\0b\r\n")),
        ("no request", "\u{1}\u{2}\u{3}\r\n\r\n".to_owned()),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
    ] {
        let response = send(host, &request).unwrap_or_default();
        let status = response.split(' ').nth(1).unwrap_or("closed");
        assert!(status.starts_with('4') || response.is_empty(), "{name}: {status}");
        let next = service.request("GET", "/v1/floods/states", "\r\n");
        assert!(next.starts_with("HTTP/1.1 200 "), "after {name}: {next}");
    }
    // The largest accepted request is handled normally.
    let long = format!("/v1/floods?{}", "a=b&".repeat(15_000));
    assert!(send(host, &line(&long, "")).unwrap().starts_with("HTTP/1.1 200 "));
    assert!(!service.kill().contains("panicked"));
}

#[test]
fn a_client_over_its_quota_is_rejected_until_it_has_waited() {
    let service = Running::demo(&[
        ("SIAGA_QUOTA__PER_SECOND", "2"),
        ("SIAGA_QUOTA__BURST", "5"),
        ("SIAGA_QUOTA__FUSE_PER_SECOND", "50"),
    ]);
    // The response is not cached, so each request counts in full.
    let send = || service.request("GET", "/v1/reports/999999", "X-Real-IP: 192.0.2.1\r\n\r\n");
    let responses: Vec<String> = (0..30).map(|_| send()).collect();
    assert!(responses[0].starts_with("HTTP/1.1 404 "), "{}", responses[0]);
    let refused = responses.iter().find(|response| response.starts_with("HTTP/1.1 429 ")).unwrap();
    assert!(refused.to_ascii_lowercase().contains("\r\nretry-after: 1\r\n"), "{refused}");
    let is_answered = |response: &String| response.starts_with("HTTP/1.1 404 ");
    eventually_blocking("it can ask again", Duration::from_secs(1), send, is_answered);
}

#[test]
fn requests_that_rocket_cannot_parse_are_counted_and_logged_by_their_cause() {
    let service = Running::demo(&[
        ("SIAGA_QUOTA__PER_SECOND", "0"),
        ("SIAGA_QUOTA__PER_DAY", "4"),
        ("SIAGA_LOG__ACCESS", "true"),
        ("SIAGA_LOG__FORMAT", "json"),
    ]);
    let requests = [
        ("PROPFIND", "/v1/floods", "405", json!("other"), json!("/v1/floods")),
        ("get", "/v1/nowhere", "404", json!("other"), json!("/v1/nowhere")),
        ("CONNECT", "example.org:80", "400", json!("CONNECT"), Value::Null),
        ("POST", "example.org:80", "400", json!("POST"), Value::Null),
        ("GET", "example.org:80", "405", json!("other"), json!("/")),
    ];
    for (left, (method, target, status, ..)) in (0..4).rev().zip(&requests) {
        let response = service.request(method, target, "\r\n").to_ascii_lowercase();
        assert!(response.starts_with(&format!("http/1.1 {status} ")), "{method} {target}: {response}");
        assert!(response.contains(&format!("\r\nratelimit-remaining: {left}\r\n")), "{method}: {response}");
    }
    for (method, target, ..) in &requests {
        let response = service.request(method, target, "\r\n");
        assert!(response.starts_with("HTTP/1.1 429 "), "{method} {target}: {response}");
    }
    let lines = logged_lines(&service, 9);
    for (line, (method, target, _, logged, path)) in lines[4..].iter().zip(&requests) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["method"], &line["path"]), (logged, path), "{method} {target}: {line}");
        assert_eq!((&line["route"], &line["status"]), (&json!("none"), &json!(429)), "{line}");
    }
}

#[test]
fn running_out_of_file_descriptors_is_logged_once_and_the_service_recovers() {
    let service = Running::start_after("ulimit -n 64", &[("SIAGA_DATASET", "empty")], "The map: ");
    let failures = |service: &Running| {
        service.errors().lines().filter(|line| line.contains("Too many open files")).count()
    };
    let open: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&service.authority).unwrap()).collect();
    service.until("a line about it", |service| (failures(service) > 0).then_some(()));
    // Accept is retried four times a second: leaves time for further lines.
    thread::sleep(Duration::from_millis(1_500));
    drop(open);
    service.until("a response", |service| {
        let response =
            send(&service.authority, "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        response.ok().filter(|response| response.starts_with("HTTP/1.1 200 "))
    });
    assert_eq!((failures(&service), service.errors().lines().count()), (1, 1), "{}", service.errors());
}
