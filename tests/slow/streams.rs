//! Streams of changes while servers stop, crash and restart, and during imports: a client that resumes where it
//! left off misses nothing.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use siaga::folder::{Dataset, FolderWriter};

use crate::cluster::Cluster;
use crate::crashes::{Acknowledged, on, under_load};
use crate::eventually::{LONG, eventually_blocking, patiently};
use crate::fixture;
use crate::outcome::printed;
use crate::running::Running;
use crate::service_config::{ServiceConfig, add_areas, request_json};

struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Opens a stream after an event. It has no chunks, because the request is of HTTP/1.0.
    fn open(authority: &str, last: Option<&str>) -> Self {
        let mut connection = TcpStream::connect(authority).unwrap();
        connection.set_read_timeout(Some(LONG)).unwrap();
        let last = last.map_or(String::new(), |last| format!("Last-Event-ID: {last}\r\n"));
        write!(connection, "GET /v1/changes/stream HTTP/1.0\r\nHost: a\r\n{last}\r\n").unwrap();
        Self(BufReader::new(connection))
    }

    /// Returns the next event with its id and its data; `None` when the stream has ended.
    fn next(&mut self) -> Option<(Option<String>, Value)> {
        let (mut id, mut data) = (None, None);
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).ok()?;
            match line.strip_suffix('\n')?.trim_end().split_once(':') {
                Some(("id", value)) => id = Some(value.trim().to_owned()),
                Some(("data", value)) => data = serde_json::from_str(value).ok(),
                None if data.is_some() => return Some((id, data?)),
                _ => {}
            }
        }
    }
}

/// A client with its states by area.
#[derive(Default)]
struct Client {
    states: BTreeMap<String, u64>,
    last: Option<String>,
    /// How many events were full states.
    full: usize,
}

impl Client {
    fn take(&mut self, (id, data): (Option<String>, Value)) {
        if let Some(areas) = data["areas"].as_array() {
            if data["full"] == true {
                self.states.clear();
                self.full += 1;
            }
            for area in areas {
                let id = area["area_id"].as_str().unwrap().to_owned();
                match area["state"].as_u64() {
                    Some(state) => self.states.insert(id, state),
                    None => self.states.remove(&id),
                };
            }
        }
        self.last = id.or(self.last.take());
    }

    /// Reads a number of events from the client's position.
    fn follow(&mut self, authority: &str, events: usize) -> Stream {
        let mut stream = Stream::open(authority, self.last.as_deref());
        (0..events).for_each(|_| self.take(stream.next().unwrap()));
        stream
    }

    /// Reads all events until the stream ends.
    fn take_all(&mut self, stream: &mut Stream) {
        while let Some(event) = stream.next() {
            self.take(event);
        }
    }

    /// Follows a server until the client has the states that the server has.
    fn follow_until_current(&mut self, authority: &str) {
        let mut stream = Stream::open(authority, self.last.as_deref());
        stream.0.get_ref().set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let look = || {
            // It ends or is silent for a moment.
            if let Some(event) = stream.next() {
                self.take(event);
            }
            (self.states.clone(), states(authority))
        };
        eventually_blocking("the client has the current states", LONG, look, |(own, all)| own == all);
    }
}

fn states(authority: &str) -> BTreeMap<String, u64> {
    let (status, body) = request_json(authority, "GET", "/v1/floods/states", &Value::Null).unwrap();
    assert_eq!(status, 200);
    let areas = body["result"].as_array().unwrap().iter();
    areas
        .map(|area| (area["area_id"].as_str().unwrap().to_owned(), area["state"].as_u64().unwrap()))
        .collect()
}

/// A cluster with areas, and the configuration of a server on it.
fn site() -> (Cluster, ServiceConfig) {
    let cluster = Cluster::new();
    add_areas(&cluster.url());
    let config = on(&cluster.url());
    (cluster, config)
}

#[test]
fn shutdown_ends_streams_within_a_second_and_clients_continue_at_another_server() {
    let (_cluster, config) = site();
    let (mut first, second) = (config.start(), config.start());
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    let mut client = Client::default();
    under_load(&second.authority, &next, &noted, || {
        let begun = Instant::now();
        let mut stream = client.follow(&first.authority, 6);
        assert!(begun.elapsed() < patiently(Duration::from_secs(10)), "events are late under load");
        let signalled = Instant::now();
        first.signal("TERM");
        client.take_all(&mut stream);
        let took = signalled.elapsed();
        assert!(took < patiently(Duration::from_secs(1)), "{took:?}");
        assert_eq!(first.wait_for_exit().0, Some(0));
        noted.grow_by(20);
        client.follow(&second.authority, 3);
    });
    client.follow_until_current(&second.authority);
    assert_eq!(client.full, 1, "the other server has no need to send everything");
}

#[test]
fn clients_miss_nothing_when_servers_are_killed_and_areas_are_imported_while_states_change() {
    let (_cluster, config) = site();
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset { places: fixture::dataset().places, ..Dataset::default() };
    dataset.save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
    let mut servers = [config.start(), config.start()];
    let writing = config.start();
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    let mut client = Client::default();
    under_load(&writing.authority, &next, &noted, || {
        for round in 0..4 {
            let server = &mut servers[round % 2];
            let mut stream = client.follow(&server.authority, 3);
            if round == 1 || round == 2 {
                printed(&config.siaga(&["import", folder.path().to_str().unwrap()]));
            }
            noted.grow_by(10);
            server.process.kill().unwrap();
            client.take_all(&mut stream);
            *server = config.start();
        }
    });
    for server in &servers {
        client.follow_until_current(&server.authority);
    }
    assert_eq!(states(&servers[0].authority), states(&servers[1].authority));
}

#[test]
fn a_database_outage_is_sent_to_streams_and_logged_once_and_the_map_stays() {
    let (cluster, config) = site();
    let server = config.without("SIAGA_LIMITS__STALE").start();
    let page = || server.request("GET", "/map?lang=en", "\r\n");
    assert!(page().starts_with("HTTP/1.1 200 "));
    let mut stream = Stream::open(&server.authority, None);
    let mut until = |condition: &str, found: &dyn Fn(&Value) -> bool| loop {
        let (_, data) = stream.next().unwrap_or_else(|| panic!("the stream ended before {condition}"));
        if found(&data) {
            return data;
        }
    };
    until("everything", &|data| data["full"] == true);
    cluster.stop("immediate");
    until("the outage", &|data| data["stale_since"].is_string());
    let shown = eventually_blocking("the page says so", LONG, page, |page| {
        page.to_ascii_lowercase().contains("\r\nsiaga-stale-since: ")
    });
    assert!(shown.starts_with("HTTP/1.1 200 ") && shown.contains("Shown is the state of"), "{shown}");
    // Further attempts are not logged.
    thread::sleep(Duration::from_secs(3));
    cluster.start();
    until("the end of the outage", &|data| data["full"] == false && data["areas"] == json!([]));
    let log = server.kill();
    for line in ["the changes cannot be read", "the changes can be read again"] {
        assert_eq!(log.matches(line).count(), 1, "{line}: {log}");
    }
}

#[test]
fn a_disconnected_client_soon_releases_its_stream() {
    let server = Running::demo(&[("SIAGA_STREAMS__PER_ADDRESS", "1")]);
    let changes = |rest: &str| {
        let response = server.request("GET", &format!("/v1/changes?{rest}"), "X-Real-IP: 192.0.2.1\r\n\r\n");
        response[9..12].to_owned() + response.split("\r\n\r\n").nth(1).unwrap_or_default()
    };
    let body = changes("");
    let cursor = body.split("\"cursor\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    // The demo changes, but not constantly.
    let waits = format!("city=jbd&minimum_state=4&since={cursor}");
    for target in ["/v1/changes/stream".to_owned(), format!("/v1/changes?wait=30&{waits}")] {
        let mut gone = TcpStream::connect(&server.authority).unwrap();
        write!(gone, "GET {target} HTTP/1.1\r\nHost: a\r\nX-Real-IP: 192.0.2.1\r\n\r\n").unwrap();
        let mut begun = [0; 12];
        gone.read_exact(&mut begun).unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200");
        assert!(changes(&format!("wait=1&{waits}")).starts_with("429"), "the seat is taken");
        drop(gone);
        let status = || changes(&format!("wait=1&{waits}"))[..3].to_owned();
        eventually_blocking("the seat is free", Duration::from_secs(17), status, |status| status == "200");
    }
}
