//! Logins of people at the desk of a running program.

use std::time::Duration;

use chrono::Utc;

use crate::eventually::eventually_blocking;
use crate::fixture::block_on;
use crate::issuer::{CLIENT, Issuer, SECRET};
use crate::outcome::{printed, refusal};
use crate::port::free_port;
use crate::running::Running;
use crate::service_config::ServiceConfig;
use crate::store_file::StoreFile;

/// Limit until a server sees the changes of a command.
const SOON: Duration = Duration::from_secs(1);

fn oidc(issuer: &Issuer, group: &str) -> String {
    let grants = format!("[{{ group = \"{group}\", scopes = [\"floods:write\"] }}]");
    format!(
        "{{ issuer = \"{}\", client_id = \"{CLIENT}\", client_secret = \"{SECRET}\", grants = {grants} }}",
        issuer.address
    )
}

fn header<'r>(response: &'r str, begin: &str) -> &'r str {
    let line = response.lines().find_map(|line| line.strip_prefix(begin));
    line.unwrap_or_else(|| panic!("{begin} is not in {response}")).split(';').next().unwrap()
}

/// Logs a person in. Returns the session cookie, and the query of the callback.
fn log_in(service: &Running, issuer: &Issuer) -> (String, String) {
    let start = service.request("GET", "/desk/login/start", "\r\n");
    let query = issuer.authorize(header(&start, "location: "));
    let cookie = header(&start, "set-cookie: ");
    let target = format!("/desk/login/callback?{query}");
    let response = service.request("GET", &target, &format!("Cookie: {cookie}\r\n\r\n"));
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    (format!("siaga-desk={}", header(&response, "set-cookie: siaga-desk=")), query)
}

fn is_logged_in(service: &Running, session: &str) -> bool {
    let page = service.request("GET", "/desk", &format!("Cookie: {session}\r\n\r\n"));
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    page.contains("Sri Wahyuni")
}

#[test]
fn a_reload_removes_a_grant_and_the_log_has_no_code_state_or_token() {
    let issuer = Issuer::start(Utc::now().timestamp());
    let port = free_port().to_string();
    let base = format!("http://127.0.0.1:{port}/v1");
    let variables = [
        ("ROCKET_PORT", &*port),
        ("SIAGA_BASE_URL", &base),
        ("SIAGA_LOG__ACCESS", "true"),
        ("SIAGA_LOG__LEVEL", "debug"),
        ("ROCKET_LOG_LEVEL", "debug"),
    ];
    let file = |group: &str| format!("[default.siaga.auth]\noidc = {}\n", oidc(&issuer, group));
    let service = Running::start_with(&variables, "The map: ", &file("bpbd"));
    let (session, query) = log_in(&service, &issuer);
    assert!(is_logged_in(&service, &session));
    std::fs::write(service.folder().join("Rocket.toml"), file("others")).unwrap();
    service.signal("HUP");
    service.until("the grant is removed", |service| (!is_logged_in(service, &session)).then_some(()));
    let replayed = service.request("GET", &format!("/desk/login/callback?{query}"), "\r\n");
    assert!(replayed.starts_with("HTTP/1.1 403 "), "{replayed}");
    let log = service.kill();
    assert!(log.contains("/desk/login/callback") && log.contains("a login at the desk failed"), "{log}");
    let state = query.split("state=").nth(1).unwrap();
    for secret in ["code-0", state, "an access token", "eyJ", SECRET, session.as_str()] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[test]
fn siaga_logins_end_ends_logins_of_a_running_server_within_a_second() {
    let issuer = Issuer::start(Utc::now().timestamp());
    let file = block_on(StoreFile::with_fixture());
    let port = free_port().to_string();
    let settings = ServiceConfig::in_file(&file.path())
        .with("ROCKET_PORT", &port)
        .with("SIAGA_BASE_URL", &format!("http://127.0.0.1:{port}/v1"))
        .with("SIAGA_AUTH__OIDC", &oidc(&issuer, "bpbd"));
    let service = settings.start();
    for subject in ["sri", "oidc:sri"] {
        let (session, _) = log_in(&service, &issuer);
        assert_eq!(printed(&settings.siaga(&["logins", "end", "oidc:budi"])), "");
        assert!(is_logged_in(&service, &session));
        assert_eq!(printed(&settings.siaga(&["logins", "end", subject])), "");
        let ended = || !is_logged_in(&service, &session);
        eventually_blocking("the login has ended", SOON, ended, |ended| *ended);
    }
    let in_memory = settings.with("SIAGA_STORE", "memory").siaga(&["logins", "end", "sri"]);
    let error = "siaga: siaga.store is \"memory\": restart the server, which ends all its logins";
    assert_eq!(refusal(&in_memory), error);
}

#[test]
fn a_restart_of_the_memory_store_ends_all_logins() {
    let issuer = Issuer::start(Utc::now().timestamp());
    let port = free_port().to_string();
    let (base, oidc) = (format!("http://127.0.0.1:{port}/v1"), oidc(&issuer, "bpbd"));
    let variables = [("ROCKET_PORT", &*port), ("SIAGA_BASE_URL", &base), ("SIAGA_AUTH__OIDC", &oidc)];
    let service = Running::start(&variables, "The map: ");
    let (session, _) = log_in(&service, &issuer);
    assert!(is_logged_in(&service, &session));
    service.kill();
    assert!(!is_logged_in(&Running::start(&variables, "The map: "), &session));
}
