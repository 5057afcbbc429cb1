//! The program on a real port, spoken to over a real connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// A running service, stopped when it is dropped.
struct Running {
    process: Child,
    /// What it printed at its start.
    lines: Vec<String>,
    /// Where it listens.
    authority: String,
    _output: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl Running {
    /// Starts the service on a free port and waits until it has said where it listens.
    fn start(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_siaga"))
            .current_dir(&folder)
            .env_clear()
            .env("ROCKET_PORT", "0")
            .env("ROCKET_LOG_LEVEL", "off")
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut lines: Vec<String> = Vec::new();
        while !lines.last().is_some_and(|line| line.contains("it allows everything")) {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "ended after {lines:?}");
            lines.push(line.trim_end().to_owned());
        }
        let authority = lines[0].split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Self { process, lines, authority, _output: output, _folder: folder }
    }

    /// The answer to a request sent as these bytes, until the service closes the connection.
    fn send(&self, request: &str) -> String {
        let mut connection = TcpStream::connect(&self.authority).unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A service that did not read the whole request may reset the connection after its answer.
        let _ = connection.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn request(&self, method: &str, target: &str, rest: &str) -> String {
        let host = &self.authority;
        self.send(&format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{rest}"))
    }

    /// The value of a header with a key, from the line that shows how to use it.
    fn key(&self) -> &str {
        let line = self.lines.iter().find(|line| line.contains("X-Api-Key: ")).unwrap();
        line.split("X-Api-Key: ").nth(1).unwrap().split('"').next().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn every_address_printed_at_the_start_answers_and_the_printed_key_writes() {
    let service = Running::start(&[]);
    let start = format!("http://{}", service.authority);
    let tried: Vec<&str> = service
        .lines
        .iter()
        .filter(|line| line.trim_start().starts_with("curl \""))
        .map(|line| line.split(&start).nth(1).unwrap().trim_end_matches('"'))
        .collect();
    assert!(tried.len() >= 8, "{:?}", service.lines);
    for target in tried {
        let answer = service.request("GET", target, "\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{target}: {answer}");
    }
    let put = service.lines.iter().find(|line| line.contains("curl -X PUT")).unwrap();
    let target = put.split(&start).nth(1).unwrap().trim_end_matches('"');
    let body = r#"{"state":2}"#;
    let rest = format!("X-Api-Key: {}\r\nContent-Length: {}\r\n\r\n{body}", service.key(), body.len());
    let answer = service.request("PUT", target, &rest);
    assert!(answer.ends_with(r#""state":2,"updated":true}"#), "{answer}");
}

#[test]
fn what_cannot_be_read_as_a_request_is_answered_in_the_form_of_errors() {
    let service = Running::start(&[("SIAGA_DATASET", "demo")]);
    for method in ["PROPFIND", "FOO"] {
        let answer = service.request(method, "/v1/floods", "\r\n").to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 400 "), "{answer}");
        for part in [
            "access-control-allow-origin: *\r\n",
            "x-request-id: ",
            "content-type: application/json\r\n",
            r#"{"statuscode":400,"error":"bad request","message":"the method or the address"#,
        ] {
            assert!(answer.contains(part), "{part}: {answer}");
        }
    }
}

#[test]
fn a_body_that_does_not_come_is_408_and_one_announced_too_large_413() {
    let service = Running::start(&[("SIAGA_LIMITS__TIMEOUT", "50ms")]);
    let key = service.key();
    // Rocket itself waits for the first bytes of a body, to see whether they name another method.
    let beginning = r#"{"state":2,"and":"so on"#;
    for (length, status) in [(100, "408"), (102_401, "413")] {
        let rest = format!("X-Api-Key: {key}\r\nContent-Length: {length}\r\n\r\n{beginning}");
        let answer = service.request("PUT", "/v1/floods/1", &rest);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains(&format!(r#"{{"statusCode":{status},"#)), "{answer}");
    }
}
