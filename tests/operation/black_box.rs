//! The program on a real port, over real connections.

use std::time::{Duration, Instant};

use crate::eventually::patiently;
use crate::running::Running;

#[test]
fn every_address_printed_at_startup_works_and_the_printed_key_can_write() {
    let service = Running::demo(&[]);
    let origin = format!("http://{}", service.authority);
    let printed = service.lines.join(" ");
    let addresses: Vec<_> =
        printed.split(&origin).skip(1).map(|rest| rest.split([' ', '.']).next().unwrap()).collect();
    assert_eq!(addresses, ["/v1", "/map", "/"], "{printed}");
    for target in ["/v1/floods", "/map", "/"] {
        let response = service.request("GET", target, "\r\n");
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{target}: {response}");
    }
    let body = r#"{"state":2}"#;
    let rest = format!("X-Api-Key: {}\r\nContent-Length: {}\r\n\r\n{body}", service.key(), body.len());
    let response = service.request("PUT", "/v1/floods/1", &rest);
    assert!(response.ends_with(r#""state":2,"updated":true}"#), "{response}");
}

#[test]
fn an_unknown_method_is_405_with_the_allowed_methods() {
    let service = Running::demo(&[("SIAGA_DATASET", "demo")]);
    for (method, target, expected) in [
        ("PROPFIND", "/v1/floods", "405 Method Not Allowed\r\n(allow: GET, HEAD, OPTIONS)"),
        ("QUERY", "/v1/floods/5", "405 Method Not Allowed\r\n(allow: PUT, DELETE, OPTIONS)"),
        ("PROPFIND", "/v1/fl%6Fods", "405 Method Not Allowed\r\n(allow: GET, HEAD, OPTIONS)"),
        ("PROPFIND", "//v1//floods/", "405 Method Not Allowed\r\n(allow: GET, HEAD, OPTIONS)"),
        ("FOO", "/v1/nowhere", "404 Not Found\r\n"),
        ("CONNECT", "example.org:80", "400 Bad Request\r\n"),
    ] {
        let response = service.request(method, target, "\r\n");
        let (status, allow) = expected.split_once('(').unwrap_or((expected, ")"));
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{method} {target}: {response}");
        for part in [
            "access-control-allow-origin: *\r\n",
            "x-request-id: ",
            "siaga-version: ",
            "content-type: application/json\r\n",
            allow.trim_end_matches(')'),
            &format!(r#"{{"statusCode":{},"error":""#, &status[..3]),
        ] {
            assert!(response.contains(part), "{part}: {response}");
        }
    }
}

#[test]
fn a_form_that_names_head_gets_the_response_to_a_post() {
    let service = Running::demo(&[("SIAGA_DATASET", "demo")]);
    for form in ["_method=HEAD", "&_method=HEAD&"] {
        let kind = "Content-Type: application/x-www-form-urlencoded";
        let rest = format!("{kind}\r\nContent-Length: {}\r\n\r\n{form}", form.len());
        let response = service.request("POST", "/v1/floods/states", &rest);
        assert!(response.starts_with("HTTP/1.1 405 "), "{form}: {response:?}");
        assert!(response.contains(r#"{"statusCode":405,"#), "{form}: {response:?}");
    }
}

#[test]
fn a_missing_body_is_408_and_a_declared_length_over_the_limit_413() {
    let service = Running::demo(&[("SIAGA_LIMITS__TIMEOUT", "50ms")]);
    let key = service.key();
    // Rocket itself waits for the first bytes of a body, which may contain `_method`.
    let beginning = r#"{"state":2,"and":"so on"#;
    for (length, status) in [(100, "408"), (102_401, "413")] {
        let rest = format!("X-Api-Key: {key}\r\nContent-Length: {length}\r\n\r\n{beginning}");
        let sent = Instant::now();
        let response = service.request("PUT", "/v1/floods/1", &rest);
        assert!(sent.elapsed() < patiently(Duration::from_secs(8)), "it waits for longer than configured");
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
        assert!(response.contains(&format!(r#"{{"statusCode":{status},"#)), "{response}");
    }
}

#[test]
fn the_service_has_its_configured_data_set_name_and_address() {
    let areas = |service: &Running| {
        let response = service.request("GET", "/v1/floods?geoformat=geojson", "\r\n");
        let head = response.split("\r\n\r\n").next().unwrap().to_ascii_lowercase();
        (head, response.matches("\"area_id\"").count())
    };
    let (head, found) = areas(&Running::demo(&[]));
    assert!(found == 600 && head.contains("\r\nserver: siaga"), "{found}: {head}");
    let variables = [("SIAGA_DATASET", "empty"), ("ROCKET_IDENT", "Banjir"), ("ROCKET_ADDRESS", "127.0.0.2")];
    let service = Running::start(&variables, "Siaga ");
    assert!(service.authority.starts_with("127.0.0.2:"), "{}", service.authority);
    let (head, found) = areas(&service);
    assert!(found == 0 && head.contains("\r\nserver: banjir"), "{found}: {head}");
}
