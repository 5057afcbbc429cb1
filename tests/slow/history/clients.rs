//! Clients that write and read the states of areas, and record what they sent and received.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::search::{Action, Operation, STALE, Version};
use crate::dice::Dice;
use crate::running::{KEY, request, send};

pub(super) const AREAS: RangeInclusive<u64> = 1..=12;
/// Does not exist.
const UNKNOWN_AREA: u64 = 999;
/// How often a batch is sent with the same `Idempotency-Key`, until there is a response.
const TRIES: u64 = 3;

/// The versions of areas.
pub(super) type Snapshot = BTreeMap<u64, Version>;
/// Entries of the log of all areas: the versions by the mark of the request.
pub(super) type Log = BTreeMap<String, Snapshot>;

/// A request to change areas.
#[derive(Debug)]
pub(super) struct Write {
    /// The `username` in the request, and so in the log.
    pub(super) mark: String,
    /// The condition and the new state of each area.
    pub(super) changes: BTreeMap<u64, (Option<Version>, Option<u64>)>,
    pub(super) server: usize,
    pub(super) begin: Duration,
    /// `None` if it was not acknowledged.
    pub(super) end: Option<Duration>,
    /// The time in the response.
    pub(super) at: Option<String>,
    /// Whether it was sent once, and refused.
    pub(super) refused: bool,
}

#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) writes: Vec<Write>,
    /// Each with its area.
    pub(super) reads: Vec<(u64, Operation)>,
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) pages: Vec<Log>,
    pub(super) conflicts: u64,
    pub(super) stale: u64,
}

struct Response {
    server: usize,
    begin: Duration,
    end: Duration,
    status: u16,
    is_stale: bool,
    body: Value,
}

pub(super) struct Client<'a> {
    number: u64,
    servers: &'a [String],
    /// The zero of all recorded times.
    zero: Instant,
    /// How far a server may be behind the others.
    lag: Duration,
    acknowledged: &'a AtomicU64,
    dice: Dice,
    pub(super) history: History,
    /// The versions that it saw last.
    seen: Snapshot,
    /// The states after all responses of `/changes`, and the query for the next one.
    followed: (Snapshot, String),
}

/// The version in a record of `/floods`, `/floods/states`, `/changes`, the log or a conflict. An area is only cleared while it is
/// flooded, so the end of the last flood is the time of a dry area.
fn version(record: &Value) -> Version {
    let times = ["last_updated", "over_since", "since", "changed_at"];
    let at = times.iter().find_map(|name| record[name].as_str()).unwrap_or_default();
    Version { state: record["state"].as_u64(), at: Some(at.to_owned()) }
}

fn area(record: &Value) -> u64 {
    record["area_id"].as_str().unwrap().parse().unwrap()
}

fn update(snapshot: &mut Snapshot, records: &Value) {
    for record in records.as_array().unwrap() {
        let record = record.get("properties").unwrap_or(record);
        snapshot.insert(area(record), version(record));
    }
}

fn add_entries(log: &mut Log, page: &[Value]) {
    for entry in page {
        let versions = log.entry(entry["username"].as_str().unwrap().to_owned()).or_default();
        assert!(versions.insert(area(entry), version(entry)).is_none(), "executed twice: {entry}");
    }
}

impl<'a> Client<'a> {
    pub(super) fn new(
        number: u64,
        servers: &'a [String],
        zero: Instant,
        lag: Duration,
        acknowledged: &'a AtomicU64,
        dice: Dice,
    ) -> Self {
        let (history, seen, followed) = Default::default();
        Self { number, servers, zero, lag, acknowledged, dice, history, seen, followed }
    }

    pub(super) fn run(mut self, going: &AtomicBool) -> History {
        while going.load(Ordering::Relaxed) {
            match self.dice.below(8) {
                0..=2 => self.change_areas(),
                3 => self.set_area(),
                4 => self.read_map("/v1/floods?geoformat=geojson"),
                5 => self.read_map("/v1/floods/states"),
                6 => self.read_changes(),
                _ => self.read_log(),
            }
        }
        self.history
    }

    /// Sends a request to any server. Without a complete response, waits a little.
    fn send(&mut self, headers: &str, method: &str, target: &str, body: &Value) -> Option<Response> {
        let server = usize::try_from(self.dice.below(self.servers.len() as u64)).unwrap();
        let (authority, body) = (&self.servers[server], body.to_string());
        let rest = format!("X-Api-Key: {KEY}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len());
        let begin = self.zero.elapsed();
        let response = send(authority, &request(authority, method, target, &rest)).unwrap_or_default();
        let end = self.zero.elapsed();
        let complete = response.split_once("\r\n\r\n").and_then(|(head, body)| {
            let status = head.split(' ').nth(1)?.parse().ok()?;
            let is_stale = head.to_ascii_lowercase().contains("\r\nsiaga-stale-since:");
            Some(Response { server, begin, end, status, is_stale, body: serde_json::from_str(body).ok()? })
        });
        let Some(response) = complete.filter(|response| response.status != 503) else {
            thread::sleep(Duration::from_millis(20));
            return None;
        };
        assert!(
            [200, 404, 409].contains(&response.status),
            "{target}: {} {}",
            response.status,
            response.body
        );
        Some(response)
    }

    fn get(&mut self, target: &str) -> Option<Response> {
        self.send("", "GET", target, &Value::Null).filter(|response| response.status == 200)
    }

    /// Sends a batch, with the same key until there is a response.
    fn change_areas(&mut self) {
        let mut changes = BTreeMap::new();
        for _ in 0..=self.dice.below(4) {
            let area = 1 + self.dice.below(*AREAS.end());
            let seen = self.seen.get(&area).filter(|seen| seen.state.is_some()).cloned().unwrap_or_default();
            let is_cleared = seen.state.is_some() && self.dice.below(4) == 0;
            let state = (!is_cleared).then(|| 1 + self.dice.below(4));
            let after = (is_cleared || self.dice.below(8) > 0).then_some(seen);
            changes.insert(area, (after, state));
        }
        if self.dice.below(30) == 0 {
            changes.insert(UNKNOWN_AREA, (None, Some(1)));
        }
        let items = changes.iter().map(|(area, (after, state))| {
            let mut item = json!({ "area_id": area, "state": state });
            if let Some(after) = after {
                item["after"] = json!(after.at);
            }
            item
        });
        let body = json!({ "changes": items.collect::<Vec<_>>() });
        self.write(changes, "POST", "/v1/floods/changes", &body, TRIES);
    }

    /// Sets one area, whatever its state.
    fn set_area(&mut self) {
        let (area, state) = (1 + self.dice.below(*AREAS.end()), 1 + self.dice.below(4));
        let changes = BTreeMap::from([(area, (None, Some(state)))]);
        self.write(changes, "PUT", &format!("/v1/floods/{area}"), &json!({ "state": state }), 1);
    }

    fn write(
        &mut self,
        changes: BTreeMap<u64, (Option<Version>, Option<u64>)>,
        method: &str,
        target: &str,
        body: &Value,
        tries: u64,
    ) {
        let number = self.history.writes.len();
        let mark = format!("{}-{number}", self.number);
        let target = format!("{target}?username={mark}");
        let key = format!("Idempotency-Key: 00000000-0000-0000-{:04x}-{number:012x}\r\n", self.number);
        let begin = self.zero.elapsed();
        let mut write = Write { mark, changes, server: 0, begin, end: None, at: None, refused: false };
        for attempt in 1..=tries {
            let Some(response) = self.send(&key, method, &target, body) else { continue };
            if response.status == 200 {
                write.server = response.server;
                write.end = Some(response.end);
                write.at = response.body["result"]["changed_at"].as_str().map(str::to_owned);
                self.acknowledged.fetch_add(1, Ordering::Relaxed);
            } else {
                // An earlier attempt may still be executed.
                write.refused = attempt == 1;
                self.record_conflict(&response, &write);
            }
            break;
        }
        self.history.writes.push(write);
    }

    /// A conflict shows the version of each area in it; those of the other areas met their conditions.
    fn record_conflict(&mut self, response: &Response, write: &Write) {
        let Some(conflicts) = response.body.get("conflicts") else {
            return assert!(write.changes.contains_key(&UNKNOWN_AREA), "{}", response.body);
        };
        self.history.conflicts += 1;
        let mut shown = Snapshot::new();
        update(&mut shown, conflicts);
        for (area, (after, _)) in &write.changes {
            let Some(after) = after else { continue };
            assert!(
                !shown.get(area).is_some_and(|shown| after.matches(shown)),
                "no conflict: {}",
                response.body
            );
            let version = shown.get(area).unwrap_or(after);
            self.record(response, Duration::ZERO, *area, version.clone());
        }
        self.seen.extend(shown);
    }

    fn record(&mut self, response: &Response, lag: Duration, area: u64, version: Version) {
        let Response { server, begin, end, .. } = *response;
        let read = Operation { server, begin, end: Some(end), lag, action: Action::Read(version) };
        self.history.reads.push((area, read));
    }

    fn record_snapshot(&mut self, response: &Response, mut snapshot: Snapshot) {
        let lag = if response.is_stale { STALE } else { self.lag };
        self.history.stale += u64::from(response.is_stale);
        for area in AREAS {
            // Areas that the response leaves out are dry.
            let version = snapshot.entry(area).or_default().clone();
            self.record(response, lag, area, version);
        }
        self.history.snapshots.push(snapshot.clone());
        self.seen = snapshot;
    }

    pub(super) fn read_map(&mut self, target: &str) {
        let Some(response) = self.get(target) else { return };
        let result = &response.body["result"];
        let mut snapshot = Snapshot::new();
        update(&mut snapshot, result.get("features").unwrap_or(result));
        self.record_snapshot(&response, snapshot);
    }

    fn read_changes(&mut self) {
        let target = format!("/v1/changes{}", self.followed.1);
        let Some(response) = self.get(&target) else { return };
        let result = &response.body["result"];
        if result["full"] == true {
            self.followed.0.clear();
        }
        update(&mut self.followed.0, &result["areas"]);
        self.followed.1 = format!("?since={}", result["cursor"].as_str().unwrap());
        self.record_snapshot(&response, self.followed.0.clone());
    }

    /// Reads the log since the newest version that it saw.
    fn read_log(&mut self) {
        let newest = self.seen.values().filter_map(|version| version.at.as_ref()).max();
        let since = newest.filter(|at| !at.is_empty()).map_or(String::new(), |at| format!("?since={at}"));
        let Some(response) = self.get(&format!("/v1/floods/log{since}")) else { return };
        self.record_page(&response);
    }

    fn record_page(&mut self, response: &Response) {
        let page = response.body["result"].as_array().unwrap();
        let mut recorded = BTreeSet::new();
        // The newest entry is the first.
        for entry in page.iter().filter(|entry| recorded.insert(area(entry))) {
            self.record(response, Duration::ZERO, area(entry), version(entry));
        }
        let mut log = Log::new();
        add_entries(&mut log, page);
        self.history.pages.push(log);
    }

    /// Reads the whole log. Fails unless the service responds.
    pub(super) fn read_whole_log(&mut self) -> Log {
        let (mut log, mut before) = (Log::new(), String::new());
        let pages = iter::from_fn(|| {
            let response = self.get(&format!("/v1/floods/log{before}")).expect("the log");
            let page = response.body["result"].as_array().unwrap().clone();
            before = format!("?before={}", page.last()?["changed_at"].as_str().unwrap());
            Some(page)
        });
        pages.for_each(|page| add_entries(&mut log, &page));
        log
    }
}
