//! What the log says of a request that is refused with 403, and the client is not told.

use std::process::Command;

use serde_json::{Value, json};
use siaga::auth::KeyDigest;

use crate::fixture::block_on;
use crate::kept::Kept;
use crate::outcome::printed;
use crate::postgres::Database;
use crate::running::Running;

const SECRET: &str = "a secret of thirty-two bytes or more";

fn keys() -> String {
    let entry = |name: &str, key: &str, more: &str| {
        let sum = KeyDigest::of(key).to_hex();
        format!("{{name=\"{name}\",sha256=\"{sum}\",scopes=[\"gauges:write\"]{more}}}")
    };
    let old = entry("old", "the-old-key", ",expires=\"2020-01-01T00:00:00Z\"");
    format!("[{},{old}]", entry("gauges", "the-key-for-gauges", ""))
}

/// A token for cards that the program signs with a secret.
fn token(secret: &str) -> String {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_siaga"));
    program.args(["token", "--sub", "ana", "--scope", "cards:read"]).current_dir(&elsewhere).env_clear();
    let output = program.env("SIAGA_AUTH__JWT__SECRET", secret).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// The value of a header of a response.
fn header<'a>(response: &'a str, name: &str) -> &'a str {
    let mut lines = response.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).unwrap().1
}

/// The line of the log about a request, once it is there.
fn logged(service: &Running, id: &str) -> Value {
    service.until("the line of the request", |service| {
        let errors = service.errors();
        let line = errors.lines().find(|line| line.contains(id) && line.ends_with('}'))?;
        Some(serde_json::from_str(line).unwrap())
    })
}

#[test]
fn the_log_says_why_a_request_is_forbidden_and_the_client_is_not_told() {
    let keys = keys();
    let service = Running::start(
        &[
            ("SIAGA_LOG__LEVEL", "info"),
            ("SIAGA_LOG__FORMAT", "json"),
            ("SIAGA_AUTH__API_KEYS", &keys),
            ("SIAGA_AUTH__JWT__SECRET", SECRET),
        ],
        "Siaga ",
    );
    let shown = |sent: &str| json!(format!("sha256 {}…", &KeyDigest::of(sent).to_hex()[..8]));
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\n");
    let (cards, forged) = (token(SECRET), token("another secret of thirty-two bytes"));
    let mut responses = Vec::new();
    for (headers, reason, credential) in [
        (String::new(), "no credential", Value::Null),
        ("X-Api-Key: never-made\r\n".to_owned(), "unknown key", shown("never-made")),
        ("X-Api-Key: the-old-key\r\n".to_owned(), "expired key", json!("old")),
        (
            "X-Api-Key: the-key-for-gauges\r\n".to_owned(),
            "missing scope: needs one of [floods:write]",
            json!("gauges"),
        ),
        ("Authorization: Basic abc\r\n".to_owned(), "Authorization without Bearer", Value::Null),
        (
            format!("X-Api-Key: the-key-for-gauges\r\n{}", bearer(&cards)),
            "two different credentials",
            Value::Null,
        ),
        ("X-Api-Key: the-key-for-gauges\r\n".repeat(2), "X-Api-Key is sent more than once", Value::Null),
        (bearer("a.b.c"), "malformed token", shown("a.b.c")),
        (bearer(&forged), "token with a wrong signature", shown(&forged)),
        (bearer(&cards), "missing scope: needs one of [floods:write]", json!("ana")),
    ] {
        let response = service.request("PUT", "/v1/floods/5", &format!("{headers}Content-Length: 0\r\n\r\n"));
        assert!(response.starts_with("HTTP/1.1 403 "), "{reason}: {response}");
        let line = logged(&service, header(&response, "X-Request-Id"));
        for (field, expected) in [
            ("level", json!("INFO")),
            ("message", json!("request refused")),
            ("status", json!(403)),
            ("method", json!("PUT")),
            ("route", json!("/v1/floods/<id>")),
            ("reason", json!(reason)),
        ] {
            assert_eq!(line[field], expected, "{line}");
        }
        assert_eq!(line["credential"], credential, "{line}");
        responses.push(response.split("\r\n\r\n").nth(1).unwrap().to_owned());
    }
    assert!(responses.iter().all(|body| *body == responses[0]), "{responses:?}");
    for secret in ["never-made", "the-old-key", "the-key-for-gauges", &forged, &cards, "a.b.c", SECRET] {
        assert!(!service.errors().contains(secret), "{secret} is in the log");
    }
}

#[test]
fn the_log_says_why_an_address_for_an_upload_is_refused() {
    let variables = [("SIAGA_LOG__LEVEL", "info"), ("SIAGA_LOG__FORMAT", "json")];
    let service = Running::demo(&variables);
    let target = "/v1/uploads/demo-001.0.jpeg?expires=1&signature=0badc0de";
    let response = service.request("PUT", target, "Content-Length: 0\r\n\r\n");
    assert!(response.starts_with("HTTP/1.1 403 "), "{response}");
    let line = logged(&service, header(&response, "X-Request-Id"));
    assert_eq!(line["reason"], "signed address with a wrong signature", "{line}");
    assert_eq!(line["route"], "/v1/uploads/<_>", "{line}");
    assert!(!service.errors().contains("0badc0de"));
}

#[test]
fn the_log_tells_a_revoked_key_from_one_that_never_was() {
    let database = block_on(Database::with_fixture());
    let kept =
        Kept::in_database(&database.url()).with("SIAGA_LOG__LEVEL", "info").with("SIAGA_LOG__FORMAT", "json");
    let created = printed(&kept.siaga(&["key", "create", "--name", "BPBD DKI", "--scope", "floods:write"]));
    let key = created.trim_end().rsplit(' ').next().unwrap();
    printed(&kept.siaga(&["key", "revoke", "BPBD DKI"]));
    let service = kept.start();
    let rest = format!("X-Api-Key: {key}\r\nContent-Length: 0\r\n\r\n");
    let response = service.request("PUT", "/v1/floods/5", &rest);
    let line = logged(&service, header(&response, "X-Request-Id"));
    assert_eq!((&line["reason"], &line["credential"]), (&json!("revoked key"), &json!("BPBD DKI")), "{line}");
    assert!(!service.errors().contains(key));
}
