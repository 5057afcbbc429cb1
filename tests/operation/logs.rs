//! The log: format, levels, reasons of rejections, and no secrets.

use std::process::Command;
use std::thread;

use serde_json::{Value, json};
use siaga::auth::KeyDigest;
use sqlx::{Connection, Executor, PgConnection};

use crate::connections::SLOW_CARDS;
use crate::fixture::block_on;

use crate::outcome::printed;
use crate::postgres::Database;
use crate::running::{KEY, PROGRAM, Running, keys};
use crate::service_config::ServiceConfig;

fn access(format: &str) -> Running {
    let keys = keys();
    let log = [("SIAGA_LOG__ACCESS", "true"), ("SIAGA_LOG__FORMAT", format), ("ROCKET_LOG_LEVEL", "normal")];
    Running::start(&[&log[..], &[("SIAGA_AUTH__API_KEYS", &keys)]].concat(), "Siaga ")
}

/// Waits for a number of request lines.
pub(crate) fn lines(service: &Running, count: usize) -> Vec<String> {
    service.until("the lines of requests", |service| {
        let lines: Vec<String> = service.errors().lines().map(str::to_owned).collect();
        (lines.len() >= count && service.errors().ends_with('\n')).then_some(lines)
    })
}

#[test]
fn a_request_is_logged_as_one_line_of_json_without_secrets() {
    let service = access("json");
    let rest =
        format!("X-Api-Key: {KEY}\r\nUser-Agent: kirim/1 \"x\"\r\nContent-Length: 11\r\n\r\n{{\"state\":2}}");
    let response = service.request("PUT", "/v1/floods/5?username=ana", &rest);

    let target = "/v1/uploads/abcdefg.0?expires=1&signature=0badc0de";
    service.request("PUT", target, "Authorization: Bearer hunter2\r\n\r\n");
    let lines = lines(&service, 2);
    assert_eq!(lines.len(), 2, "{lines:?}");
    let line: Value = serde_json::from_str(&lines[0]).unwrap();
    for (key, expected) in [
        ("method", "PUT"),
        ("route", "/v1/floods/<id>"),
        ("path", "/v1/floods/5"),
        ("address", "127.0.0.1"),
        ("user_agent", "kirim/1 \"x\""),
        ("subject", "root"),
        ("request_id", header(&response, "X-Request-Id")),
    ] {
        assert_eq!(line[key], expected, "{line}");
    }
    assert_eq!(line["status"], 200);
    let body = response.split("\r\n\r\n").nth(1).unwrap();
    assert_eq!(line["bytes"], body.len());
    assert!(line["microseconds"].is_u64() && line["timestamp"].is_string(), "{line}");
    for secret in ["0badc0de", "hunter2", KEY, "signature"] {
        assert!(!service.errors().contains(secret), "{secret}: {}", service.errors());
    }
}

#[test]
fn input_of_a_client_cannot_forge_log_lines() {
    for format in ["text", "json"] {
        let service = access(format);
        let forged = "/v1/%0d%0a2026-01-01T00:00:00Z%20ERROR%20forged?a=%0d%0a";
        // Bytes the parser accepts in a header: tab, and non-ASCII bytes including C1 controls.
        let agent = format!("User-Agent: x\t\u{85}\u{9b}31m{}\r\n\r\n", "y".repeat(5000));
        service.request("GET", forged, &agent);
        service.request("FOO", "/v1/floods", "\r\n");
        let lines = lines(&service, 2);
        assert_eq!(lines.len(), 2, "{lines:?}");
        for line in lines {
            assert!(line.len() < 1500 && !line.contains(['\t', '\u{85}', '\u{9b}']), "{line}");
            assert!(!line.contains("ERROR") || line.contains("%20ERROR"), "{line}");
        }
    }
}

#[test]
fn requests_and_rejections_are_not_logged_by_default() {
    let service = Running::demo(&[("ROCKET_LOG_LEVEL", "normal")]);
    for (method, target) in [("GET", "/v1/floods"), ("GET", "/nowhere"), ("FOO", "/v1/floods")] {
        service.request(method, target, "\r\n");
    }
    let refused =
        service.request("PUT", "/v1/floods/5", "X-Api-Key: never-made\r\nContent-Length: 0\r\n\r\n");
    assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
    assert_eq!(service.kill().trim(), "");
}

#[test]
fn a_warning_of_the_store_is_logged_once_with_the_id_of_the_request_it_happened_in() {
    let database = block_on(async {
        let database = Database::with_fixture().await;
        let mut other = PgConnection::connect(&database.url()).await.unwrap();
        other.execute(SLOW_CARDS).await.unwrap();
        database
    });
    let holder = r#"{"username":"u","network":"n","language":"id"}"#;
    let rest = format!("X-Api-Key: {KEY}\r\nContent-Length: {}\r\n\r\n{holder}", holder.len());
    for format in ["text", "json"] {
        let config = ServiceConfig::in_database(&database.url()).with("SIAGA_LOG__FORMAT", format);
        // With two connections, one is reserved for writes.
        let service = config.with("ROCKET_DATABASES", "{siaga={max_connections=2}}").start();
        let responses = thread::scope(|scope| {
            let requests = [(); 3].map(|()| scope.spawn(|| service.request("POST", "/v1/cards", &rest)));
            requests.map(|request| request.join().unwrap())
        });
        let log = service.kill();
        let said = "writing calls wait for more than a second for a connection to the database";
        let lines: Vec<_> = log.lines().filter(|line| line.contains(said)).collect();
        let [line] = *lines else { panic!("{log}") };
        let id = if format == "json" {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["level"], "WARN", "{line}");
            line["request_id"].as_str().unwrap().to_owned()
        } else {
            line.split("request_id=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
        };
        let is_of = |response: &String| header(response, "X-Request-Id") == id;
        assert!(responses.iter().any(is_of), "{line}: {responses:?}");
        assert_eq!(line.matches("request_id").count(), 1, "{line}");
    }
}

#[test]
fn the_level_decides_what_is_logged_and_an_error_is_logged_once_with_the_id_of_the_request() {
    for (level, errors, others) in [("off", 0, false), ("error", 1, false), ("debug", 1, true)] {
        let variables = [("SIAGA_IMAGES__URL", "file:///dev/null/images"), ("SIAGA_LOG__LEVEL", level)];
        let service = Running::demo(&variables);
        let response = service.request("GET", "/v1/images/abcdefg.jpg", "\r\n");
        assert!(response.starts_with("HTTP/1.1 503"), "{response}");
        let id = header(&response, "X-Request-Id");
        service.until("the error", |service| {
            (service.errors().matches("request failed").count() == errors).then_some(())
        });
        let printed = service.kill();
        let of_it = printed.lines().filter(|line| line.contains("ERROR") && line.contains(id)).count();
        assert_eq!((of_it, printed.matches("ERROR").count()), (errors, errors), "{level}: {printed}");
        assert_eq!(printed.contains("INFO"), others, "{level}: {printed}");
    }
}

#[test]
fn no_log_level_shows_secrets_of_clients() {
    let service = Running::demo(&[("SIAGA_LOG__LEVEL", "trace")]);
    let secrets = "Authorization: Bearer hunter2\r\nX-Api-Key: hunter2\r\n\r\n";
    service.request("GET", "/v1/floods/states?signature=hunter2", secrets);
    service.request("PUT", "/v1/uploads/abcdefg.0.jpeg?expires=1&signature=hunter2", "\r\n");
    let printed = service.kill();
    assert!(printed.contains("DEBUG") && !printed.contains("hunter2"), "{printed}");
}

const SECRET: &str = "a secret of thirty-two bytes or more";
const LOG: [(&str, &str); 2] = [("SIAGA_LOG__LEVEL", "info"), ("SIAGA_LOG__FORMAT", "json")];

fn gauge_keys() -> String {
    let entry = |name: &str, key: &str, more: &str| {
        let sum = KeyDigest::new(key).to_hex();
        format!("{{name=\"{name}\",sha256=\"{sum}\",scopes=[\"gauges:write\"]{more}}}")
    };
    let old = entry("old", "the-old-key", ",expires=\"2020-01-01T00:00:00Z\"");
    format!("[{},{old}]", entry("gauges", "the-key-for-gauges", ""))
}

fn token(secret: &str) -> String {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut program = Command::new(PROGRAM);
    program.args(["token", "--sub", "ana", "--scope", "cards:read"]).current_dir(&elsewhere).env_clear();
    let output = program.env("SIAGA_AUTH__JWT__SECRET", secret).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn header<'a>(response: &'a str, name: &str) -> &'a str {
    let mut lines = response.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).unwrap().1
}

/// Waits for the log line of a request.
fn line_of(service: &Running, id: &str) -> Value {
    service.until("the line of the request", |service| {
        let errors = service.errors();
        let line = errors.lines().find(|line| line.contains(id) && line.ends_with('}'))?;
        Some(serde_json::from_str(line).unwrap())
    })
}

#[test]
fn the_reason_of_a_403_is_in_the_log_and_not_in_the_response() {
    let keys = gauge_keys();
    let auth = [("SIAGA_AUTH__API_KEYS", &*keys), ("SIAGA_AUTH__JWT__SECRET", SECRET)];
    let service = Running::start(&[LOG, auth].concat(), "Siaga ");
    let shown = |sent: &str| json!(format!("sha256 {}…", &KeyDigest::new(sent).to_hex()[..8]));
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\n");
    let (cards, forged) = (token(SECRET), token("another secret of thirty-two bytes"));
    let gauges = "X-Api-Key: the-key-for-gauges\r\n";
    let mut responses = Vec::new();
    for (headers, reason, credential) in [
        (String::new(), "no credential", Value::Null),
        ("X-Api-Key: never-made\r\n".to_owned(), "unknown key", shown("never-made")),
        ("X-Api-Key: the-old-key\r\n".to_owned(), "expired key", json!("old")),
        (gauges.to_owned(), "missing scope: needs one of [floods:write]", json!("gauges")),
        ("Authorization: Basic abc\r\n".to_owned(), "Authorization without Bearer", Value::Null),
        (format!("{gauges}{}", bearer(&cards)), "two different credentials", Value::Null),
        (gauges.repeat(2), "X-Api-Key is sent more than once", Value::Null),
        (bearer("a.b.c"), "malformed token", shown("a.b.c")),
        (bearer(&forged), "token with a wrong signature", shown(&forged)),
        (bearer(&cards), "missing scope: needs one of [floods:write]", json!("ana")),
    ] {
        let response = service.request("PUT", "/v1/floods/5", &format!("{headers}Content-Length: 0\r\n\r\n"));
        assert!(response.starts_with("HTTP/1.1 403 "), "{reason}: {response}");
        let line = line_of(&service, header(&response, "X-Request-Id"));
        let known = ["level", "status", "method", "route", "reason", "credential"].map(|field| &line[field]);
        let route = "/v1/floods/<id>";
        assert_eq!(json!(known), json!(["INFO", 403, "PUT", route, reason, credential]), "{line}");
        responses.push(response.split("\r\n\r\n").nth(1).unwrap().to_owned());
    }
    assert!(responses.iter().all(|body| *body == responses[0]), "{responses:?}");
    for secret in ["never-made", "the-old-key", "the-key-for-gauges", &forged, &cards, "a.b.c", SECRET] {
        assert!(!service.errors().contains(secret), "{secret} is in the log");
    }
}

#[test]
fn the_log_has_the_reason_why_an_upload_address_is_rejected() {
    let service = Running::demo(&LOG);
    let target = "/v1/uploads/demo-001.0.jpeg?expires=1&signature=0badc0de";
    let response = service.request("PUT", target, "Content-Length: 0\r\n\r\n");
    assert!(response.starts_with("HTTP/1.1 403 "), "{response}");
    let line = line_of(&service, header(&response, "X-Request-Id"));
    assert_eq!(line["reason"], "signed address with a wrong signature", "{line}");
    assert_eq!(line["route"], "/v1/uploads/<_>", "{line}");
    assert!(!service.errors().contains("0badc0de"));
}

#[test]
fn the_log_distinguishes_a_revoked_key_from_an_unknown_one() {
    let database = block_on(Database::with_fixture());
    let config = ServiceConfig::in_database(&database.url())
        .with("SIAGA_LOG__LEVEL", "info")
        .with("SIAGA_LOG__FORMAT", "json");
    let created = printed(&config.siaga(&["key", "create", "--name", "BPBD DKI", "--scope", "floods:write"]));
    let key = created.trim_end().rsplit(' ').next().unwrap();
    printed(&config.siaga(&["key", "revoke", "BPBD DKI"]));
    let service = config.start();
    let rest = format!("X-Api-Key: {key}\r\nContent-Length: 0\r\n\r\n");
    let response = service.request("PUT", "/v1/floods/5", &rest);
    let line = line_of(&service, header(&response, "X-Request-Id"));
    assert_eq!((&line["reason"], &line["credential"]), (&json!("revoked key"), &json!("BPBD DKI")), "{line}");
    assert!(!service.errors().contains(key));
}
