//! HTTPS, redirects and startup warnings.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

use crate::outcome::refusal;
use crate::port::free_port;
use crate::running::{PROGRAM, Running, request, send};
use crate::starts::assert_warned;

/// A certificate for `localhost`, its key, and a client that trusts it.
struct Certificate {
    folder: TempDir,
    trusting: Arc<ClientConfig>,
}

impl Certificate {
    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(folder.path().join("certificate.pem"), cert.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), signing_key.serialize_pem()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let client = client.unwrap().with_root_certificates(roots).with_no_client_auth();
        Self { folder, trusting: Arc::new(client) }
    }

    /// The value of `ROCKET_TLS`.
    fn table(&self) -> String {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        format!("{{certs=\"{}\",key=\"{}\"}}", path("certificate.pem"), path("key.pem"))
    }

    fn send(&self, authority: &str, request: &str) -> String {
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(Arc::clone(&self.trusting), name).unwrap();
        let connection = TcpStream::connect(authority).unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut stream = StreamOwned::new(client, connection);
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = Vec::new();
        // The service may close the connection without a TLS `close_notify`.
        let _ = stream.read_to_end(&mut response);
        String::from_utf8(response).unwrap()
    }
}

#[test]
fn https_responses_have_hsts_and_http_redirects_to_https() {
    let certificate = Certificate::make();
    let (table, port) = (certificate.table(), free_port().to_string());
    let mut service = Running::demo(&[
        ("ROCKET_TLS", &table),
        ("ROCKET_PROFILE", "release"),
        ("SIAGA_BASE_URL", "https://localhost:8443/v1"),
        ("SIAGA_HTTPS__REDIRECT_FROM", &port),
        ("SIAGA_HTTPS__HSTS", "30d"),
    ]);
    assert!(service.lines.iter().any(|line| line.contains("https://127.0.0.1")), "{:?}", service.lines);
    for target in ["/v1/floods", "/nothing"] {
        let response = certificate.send(&service.authority, &request("localhost", "GET", target, "\r\n"));
        let response = response.to_ascii_lowercase();
        assert!(response.contains("\r\nstrict-transport-security: max-age=2592000\r\n"), "{response}");
        assert!(response.contains("\r\nserver: siaga\r\n"), "{response}");
    }
    let plain = format!("127.0.0.1:{port}");
    for (method, target, location) in [
        ("GET", "/v1/floods?a=b&c=d", "/v1/floods?a=b&c=d"),
        ("PROPFIND", "//evil.example/v1", "//evil.example/v1"),
    ] {
        let response = send(&plain, &request("evil.example", method, target, "\r\n")).unwrap();
        let response = response.to_ascii_lowercase();
        assert!(response.starts_with("http/1.1 308 "), "{method} {target}: {response}");
        let expected = format!("\r\nlocation: https://localhost:8443{location}\r\n");
        assert!(response.contains(&expected.to_ascii_lowercase()), "{method} {target}: {response}");
        assert!(!response.contains("strict-transport-security"), "{response}");
    }
    let body = request("localhost", "POST", "/v1/cards", "Content-Length: 1000000\r\n\r\n{");
    assert!(send(&plain, &body).unwrap().starts_with("HTTP/1.1 308 "), "no body is waited for");
    let broken = send(&plain, "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n").unwrap();
    assert!(broken.is_empty() || broken.starts_with("HTTP/1.1 400"), "{broken}");
    service.signal("TERM");
    assert_eq!(service.wait_for_exit().0, Some(0));
    TcpListener::bind(plain).expect("both ports are given up");
}

#[test]
fn hsts_is_not_sent_if_disabled() {
    let certificate = Certificate::make();
    let table = certificate.table();
    let service = Running::demo(&[("ROCKET_TLS", &table), ("ROCKET_PROFILE", "release")]);
    let response = certificate.send(&service.authority, &request("localhost", "GET", "/v1/floods", "\r\n"));
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    assert!(!response.to_ascii_lowercase().contains("strict-transport-security"), "{response}");
}

#[test]
fn a_port_in_use_ends_the_program_with_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut program = Command::new(PROGRAM);
    program.current_dir("/").env_clear().env("ROCKET_PORT", "0").env("SIAGA_HTTPS__REDIRECT_FROM", &port);
    program.env("SIAGA_DATASET", "empty").env("SIAGA_BASE_URL", "https://localhost/v1");
    let error = refusal(&program.output().unwrap());
    assert!(error.starts_with(&format!("siaga: siaga.https.redirect_from: port {port}: ")), "{error}");
}

#[test]
fn startup_warns_of_settings_unfit_for_the_internet() {
    for (variables, warnings) in [
        (
            &[("SIAGA_BASE_URL", "http://data.example.org/v1"), ("SIAGA_QUOTA__PER_DAY", "0")][..],
            &[
                "not set: siaga.formats.cap.sender, siaga.formats.cap.sender_name, siaga.formats.cap.web, \
                 siaga.formats.cap.author, siaga.licence.terms. Alerts",
                "siaga.dataset is demo",
                "siaga.auth accepts no key but one",
                "siaga.base_url is no https",
                "siaga.quota.per_second, credential.per_second, per_day or fuse_per_second is 0",
            ][..],
        ),
        (
            &[
                ("SIAGA_BASE_URL", "https://data.example.org/v1"),
                ("SIAGA_FORMATS__CAP__SENDER", "bpbd.example.org"),
                ("SIAGA_FORMATS__CAP__WEB", "https://example.org/"),
                ("SIAGA_LICENCE__TERMS", "Free"),
            ],
            &[
                "not set: siaga.formats.cap.sender_name, siaga.formats.cap.author. Alerts",
                "siaga.dataset is demo",
                "siaga.auth accepts no key but one",
            ],
        ),
        (
            &[
                ("SIAGA_BASE_URL", "https://data.example.org/v1"),
                ("SIAGA_FORMATS__ENABLED", "[\"topojson\"]"),
                ("SIAGA_LICENCE__TERMS", "Free"),
            ],
            &["siaga.dataset is demo", "siaga.auth accepts no key but one"],
        ),
    ] {
        let quotas = [("SIAGA_QUOTA__PER_SECOND", "20"), ("SIAGA_QUOTA__FUSE_PER_SECOND", "200")];
        assert_warned(&Running::demo(&[&quotas, variables].concat()), warnings);
    }
}

#[test]
fn startup_warnings_have_the_format_of_the_log() {
    let service = Running::demo(&[("SIAGA_LOG__FORMAT", "json"), ("ROCKET_ADDRESS", "0.0.0.0")]);
    assert_warned(&service, &["siaga.base_url names this machine alone"]);
    let errors = service.errors();
    for line in errors.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["level"] == "WARN" && line["message"].is_string(), "{line}");
    }
}
