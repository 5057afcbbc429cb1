//! What the program writes to standard error.

use std::thread;

use serde_json::Value;
use sqlx::{Connection, Executor, PgConnection};

use crate::connections::SLOW_CARDS;
use crate::fixture::block_on;
use crate::kept::Kept;
use crate::postgres::Database;
use crate::running::{KEY, Running, keys};

const LAST: &str = "Siaga ";
fn access(format: &str) -> Running {
    let keys = keys();
    let variables = [
        ("SIAGA_LOG__ACCESS", "true"),
        ("SIAGA_LOG__FORMAT", format),
        ("SIAGA_AUTH__API_KEYS", &keys),
        ("ROCKET_LOG_LEVEL", "normal"),
    ];
    Running::start(&variables, LAST)
}

/// The lines of requests, once there are so many.
fn lines(service: &Running, count: usize) -> Vec<String> {
    service.until("the lines of requests", |service| {
        let lines: Vec<String> = service.errors().lines().map(str::to_owned).collect();
        (lines.len() >= count && service.errors().ends_with('\n')).then_some(lines)
    })
}

#[test]
fn a_request_is_one_line_of_json_with_what_is_known_of_it_and_no_secret() {
    let service = access("json");
    let rest =
        format!("X-Api-Key: {KEY}\r\nUser-Agent: kirim/1 \"x\"\r\nContent-Length: 11\r\n\r\n{{\"state\":2}}");
    let answer = service.request("PUT", "/v1/floods/5?username=ana", &rest);
    let id = answer
        .lines()
        .find_map(|line| line.strip_prefix("x-request-id: ").or(line.strip_prefix("X-Request-Id: ")));
    service.request(
        "PUT",
        "/v1/uploads/abcdefg.0?expires=1&signature=0badc0de",
        "Authorization: Bearer hunter2\r\n\r\n",
    );
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
        ("request_id", id.unwrap()),
    ] {
        assert_eq!(line[key], expected, "{line}");
    }
    assert_eq!(line["status"], 200);
    let body = answer.split("\r\n\r\n").nth(1).unwrap();
    assert_eq!(line["bytes"], body.len());
    assert!(line["microseconds"].is_u64() && line["timestamp"].is_string(), "{line}");
    for secret in ["0badc0de", "hunter2", KEY, "signature"] {
        assert!(!service.errors().contains(secret), "{secret}: {}", service.errors());
    }
}

#[test]
fn what_a_client_sends_makes_no_further_line() {
    for format in ["text", "json"] {
        let service = access(format);
        let forged = "/v1/%0d%0a2026-01-01T00:00:00Z%20ERROR%20forged?a=%0d%0a";
        // What the parser lets through in a header: a tab, and bytes beyond ASCII, C1 controls among them.
        let agent = format!("User-Agent: x\t\u{85}\u{9b}31m{}\r\n\r\n", "y".repeat(5000));
        service.request("GET", forged, &agent);
        service.request("FOO", "/v1/floods", "\r\n");
        let lines = lines(&service, 2);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines.iter().all(|line| line.len() < 1500 && !line.contains(['\t', '\u{85}', '\u{9b}'])),
            "{lines:?}"
        );
        assert!(lines.iter().all(|line| !line.contains("ERROR") || line.contains("%20ERROR")), "{lines:?}");
    }
}

#[test]
fn without_being_asked_the_program_logs_no_request_and_no_refusal() {
    let service = Running::demo(&[("ROCKET_LOG_LEVEL", "normal")]);
    for target in ["/v1/floods", "/nowhere", "/v1/floods?minimum_state=9"] {
        service.request("GET", target, "\r\n");
    }
    service.request("FOO", "/v1/floods", "\r\n");
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
        let kept = Kept::in_database(&database.url()).with("SIAGA_LOG__FORMAT", format);
        // Of two connections one is for calls that write.
        let service = kept.with("ROCKET_DATABASES", "{siaga={max_connections=2}}").start();
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
        let is_of =
            |response: &String| response.to_ascii_lowercase().contains(&format!("x-request-id: {id}"));
        assert!(responses.iter().any(is_of), "{line}: {responses:?}");
        assert_eq!(line.matches("request_id").count(), 1, "{line}");
    }
}

#[test]
fn the_level_decides_what_is_logged_and_an_error_is_logged_once_with_the_id_of_the_request() {
    for (level, errors, others) in [("off", false, false), ("error", true, false), ("debug", true, true)] {
        let variables = [("SIAGA_IMAGES__URL", "file:///dev/null/images"), ("SIAGA_LOG__LEVEL", level)];
        let service = Running::demo(&variables);
        let answer = service.request("GET", "/v1/images/abcdefg.jpg", "\r\n").to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 503"), "{answer}");
        if errors {
            service.until("the error", |service| service.errors().contains("request failed").then_some(()));
        }
        let printed = service.kill();
        let id = answer.lines().find_map(|line| line.strip_prefix("x-request-id: ")).unwrap();
        let of_it = printed.lines().filter(|line| line.contains("ERROR") && line.contains(id)).count();
        assert_eq!(
            (of_it, printed.matches("ERROR").count()),
            [(0, 0), (1, 1)][usize::from(errors)],
            "{level}: {printed}"
        );
        assert_eq!(printed.contains("INFO"), others, "{level}: {printed}");
    }
}

#[test]
fn no_level_shows_what_a_client_sends_as_a_secret() {
    for level in ["debug", "trace"] {
        let service = Running::demo(&[("SIAGA_LOG__LEVEL", level)]);
        let secrets = "Authorization: Bearer hunter2\r\nX-Api-Key: hunter2\r\n\r\n";
        service.request("GET", "/v1/floods/states?signature=hunter2", secrets);
        service.request("PUT", "/v1/uploads/abcdefg.0.jpeg?expires=1&signature=hunter2", "\r\n");
        let printed = service.kill();
        assert!(!printed.contains("hunter2"), "{level}: {printed}");
    }
}
