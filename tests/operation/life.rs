//! Shutdown of the program.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sqlx::{Connection, PgConnection};

use crate::eventually::{LONG, eventually, eventually_blocking, patiently};
use crate::postgres::Database;
use crate::running::{KEY, Running, request};
use crate::service_config::ServiceConfig;

/// Observations of a client.
#[derive(Debug, Default)]
struct Seen {
    whole: usize,
    /// Connections closed without a response: none of these requests was started.
    nothing: usize,
    torn: Vec<String>,
}

/// Reads until the connection is closed or reset.
fn read_response(connection: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset counts as a close.
    let _ = connection.read_to_end(&mut bytes);
    bytes
}

/// Whether a response is complete: its head, and a body of the declared length.
fn is_complete(response: &[u8]) -> bool {
    let text = String::from_utf8_lossy(response).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.and_then(|length| length.parse().ok()) == Some(body.len())
}

/// Complete responses after which a client counts as started.
const UNDER_WAY: usize = 10;

/// Concurrent clients, each repeating its request.
struct Load {
    ended: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Seen>>,
}

impl Load {
    /// Starts a client for each request, and waits for their first responses.
    fn start(authority: &str, requests: impl IntoIterator<Item = String>) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let (sender, under_way) = mpsc::channel();
        let clients = requests.into_iter().map(|request| {
            let (authority, ended, sender) = (authority.to_owned(), Arc::clone(&ended), sender.clone());
            thread::spawn(move || send_repeatedly(&authority, &request, &ended, &sender))
        });
        let clients: Vec<_> = clients.collect();
        for _ in &clients {
            under_way.recv_timeout(LONG).expect("responses to all clients");
        }
        Self { ended, clients }
    }

    fn end(self) -> Vec<Seen> {
        self.ended.store(true, Ordering::Relaxed);
        self.clients.into_iter().map(|client| client.join().unwrap()).collect()
    }
}

fn send_repeatedly(authority: &str, request: &str, ended: &AtomicBool, under_way: &Sender<()>) -> Seen {
    let mut seen = Seen::default();
    while !ended.load(Ordering::Relaxed) {
        let Ok(mut connection) = TcpStream::connect(authority) else { break };
        connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        if connection.write_all(request.as_bytes()).is_err() {
            seen.nothing += 1;
            continue;
        }
        match read_response(&mut connection) {
            response if response.is_empty() => seen.nothing += 1,
            response if is_complete(&response) => {
                seen.whole += 1;
                if seen.whole == UNDER_WAY {
                    under_way.send(()).unwrap();
                }
            }
            response => seen.torn.push(String::from_utf8_lossy(&response).into_owned()),
        }
    }
    seen
}

#[rocket::async_test]
async fn shutdown_under_load_truncates_no_response_and_acknowledges_every_stored_change() {
    const CHANGES: &str = "SELECT count(*) FROM flood_changes";
    const SESSIONS: &str = "
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let database = Database::with_fixture().await;
    let url = database.url();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let mut count = async |sql| sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut connection).await.unwrap();
    for signal in ["TERM", "INT"] {
        let before = count(CHANGES).await;
        let mut service = ServiceConfig::in_database(&url).with("SIAGA_IMAGES__URL", "memory:///").start();
        let rest = format!("X-Api-Key: {KEY}\r\nContent-Length: 11\r\n\r\n{{\"state\":2}}");
        let writes = [1, 2, 5, 30].map(|area| ("PUT", format!("/v1/floods/{area}"), &*rest));
        let reads = ["/v1/floods", "/v1/reports"].map(|target| ("GET", target.to_owned(), "\r\n"));
        let requests = writes.into_iter().chain(reads);
        let requests =
            requests.map(|(method, target, rest)| request(&service.authority, method, &target, rest));
        let load = Load::start(&service.authority, requests.collect::<Vec<_>>());
        service.signal(signal);
        let (code, took) = service.wait_for_exit();
        let seen = load.end();
        assert_eq!((code, service.errors()), (Some(0), String::new()));
        assert!(took < patiently(Duration::from_secs(10)), "{took:?}");
        assert!(seen.iter().all(|seen| seen.torn.is_empty()), "{seen:?}");
        // Connections in the backlog of the socket when it was closed.
        assert!(seen.iter().map(|seen| seen.nothing).sum::<usize>() <= 2 * seen.len(), "{seen:?}");
        let results: usize = seen[..4].iter().map(|seen| seen.whole).sum();
        assert_eq!(count(CHANGES).await - before, i64::try_from(results).unwrap(), "{seen:?}");
        // PostgreSQL notices a closed connection a little later.
        eventually("no session is left", LONG, async || count(SESSIONS).await, |sessions| *sessions == 0)
            .await;
    }
}

/// Begins to send a change, and waits until the metrics count it as in flight.
fn begin_change(service: &Running, length: usize, beginning: &str) -> TcpStream {
    let rest = format!("X-Api-Key: {}\r\nContent-Length: {length}\r\n\r\n", service.key());
    let connection = service.begin(&request("x", "PUT", "/v1/floods/5", &rest), beginning.as_bytes());
    service.until("a request under way", |service| {
        service.request("GET", "/metrics", "\r\n").contains("\nsiaga_requests_in_flight 2\n").then_some(())
    });
    connection
}

#[test]
fn shutdown_completes_a_request_in_flight_and_waits_for_its_connection_last() {
    let mut service = Running::demo(&[("SIAGA_METRICS__ENABLED", "true")]);
    let mut idle = TcpStream::connect(&service.authority).unwrap();
    write!(idle, "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut head = [0; 15];
    idle.read_exact(&mut head).unwrap();
    let (first, rest) = (r#"{"state":2,"and":"so on"#, r#" and so on"}"#);
    let mut slow = begin_change(&service, first.len() + rest.len(), first);
    service.signal("TERM");
    // The idle connection is closed at once.
    idle.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    read_response(&mut idle);
    // So is the listening socket.
    service.until("refusal", |service| TcpStream::connect(&service.authority).is_err().then_some(()));
    slow.write_all(rest.as_bytes()).unwrap();
    let response = String::from_utf8(read_response(&mut slow)).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n") && is_complete(response.as_bytes()), "{response}");
    assert!(response.to_ascii_lowercase().contains("\r\nconnection: close\r\n"), "{response}");
    let (code, took) = service.wait_for_exit();
    assert_eq!(code, Some(0));
    assert!(took < patiently(Duration::from_secs(3)), "{took:?}: not the time that connections may take");
}

#[test]
fn a_request_that_does_not_end_is_cancelled_after_the_grace_period() {
    let limits = [("SIAGA_SHUTDOWN__GRACE", "1s"), ("SIAGA_LIMITS__TIMEOUT", "1m")];
    let mut service = Running::demo(&[&limits[..], &[("SIAGA_METRICS__ENABLED", "true")]].concat());
    let _slow = begin_change(&service, 100, r#"{"state":2,"a":"b""#);
    service.signal("TERM");
    let (code, took) = service.wait_for_exit();
    assert_eq!(code, Some(0), "{}", service.errors());
    assert!((Duration::from_secs(1)..patiently(Duration::from_secs(8))).contains(&took), "{took:?}");
}

#[test]
fn a_second_signal_ends_the_program_at_once_with_a_message() {
    let mut service = Running::demo(&[("SIAGA_SHUTDOWN__GRACE", "1m"), ("SIAGA_SHUTDOWN__DELAY", "1m")]);
    service.signal("TERM");
    let unready = service.until("draining", |service| {
        let response = service.request("GET", "/health/ready", "\r\n");
        response.contains(r#""status":"draining""#).then_some(response)
    });
    assert!(unready.starts_with("HTTP/1.1 503 "), "{unready}");
    // The service continues, and connections end with their next response.
    let mut connection = TcpStream::connect(&service.authority).unwrap();
    write!(connection, "GET /v1/floods/states HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let response = String::from_utf8(read_response(&mut connection)).unwrap();
    assert!(
        response.starts_with("HTTP/1.1 200 ") && response.to_ascii_lowercase().contains("connection: close")
    );
    // Signals of the first second count as one with the first.
    let signalled = || {
        service.signal("INT");
        service.process.try_wait().unwrap()
    };
    eventually_blocking("it ends", LONG, signalled, Option::is_some);
    let (code, took) = service.wait_for_exit();
    assert_eq!((code, service.errors().lines().count()), (Some(1), 1), "{}", service.errors());
    assert!(took < patiently(Duration::from_secs(3)), "{took:?}");
    assert!(service.errors().starts_with("siaga: ended at once by a second signal"), "{}", service.errors());
}

#[test]
fn two_simultaneous_signals_count_as_one() {
    let mut service = Running::demo(&[("SIAGA_SHUTDOWN__DELAY", "500ms")]);
    let id = service.process.id();
    let both = format!("kill -TERM {id} && kill -INT {id}");
    assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
    let (code, _) = service.wait_for_exit();
    assert_eq!((code, service.errors()), (Some(0), String::new()));
}
