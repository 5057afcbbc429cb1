//! Clients that change and read areas, and record what they sent and received.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::search::{Action, Operation, STALE, Version};
use crate::dice::Dice;
use crate::running::{KEY, request, send};

pub(super) const AREAS: u64 = 12;

/// What clients share.
pub(super) struct Site {
    pub(super) servers: Vec<String>,
    /// How far a server may be behind the others.
    pub(super) lag: Duration,
    /// The zero of all recorded times.
    pub(super) zero: Instant,
    pub(super) going: AtomicBool,
    pub(super) acknowledged: AtomicU64,
}

/// Versions by area.
pub(super) type Snapshot = BTreeMap<u64, Version>;
/// The condition and the new state by area.
type Changes = BTreeMap<u64, (Option<Version>, Option<u64>)>;

/// A request to change areas.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) changes: Changes,
    pub(super) server: usize,
    pub(super) begin: Duration,
    /// `None` if it was not acknowledged.
    pub(super) end: Option<Duration>,
    /// Whether its only response refused it.
    pub(super) is_refused: bool,
}

struct Response {
    server: usize,
    begin: Duration,
    end: Duration,
    is_refusal: bool,
    lag: Duration,
    body: Value,
}

pub(super) struct Client<'a> {
    site: &'a Site,
    number: u64,
    dice: Dice,
    /// By the `username` of the request, which is in the log.
    pub(super) writes: BTreeMap<String, Write>,
    /// Each with its area.
    pub(super) reads: Vec<(u64, Operation)>,
    pub(super) snapshots: Vec<Snapshot>,
    /// By the `username` of the request.
    pub(super) logs: Vec<BTreeMap<String, Snapshot>>,
    pub(super) conflicts: u64,
    /// The versions that it saw last.
    seen: Snapshot,
    /// The states after all deltas of `/changes`, and the address of the next one.
    followed: (Snapshot, String),
}

/// The area and the version in a record of `/floods`, `/floods/states`, `/changes`, the log, or a conflict. Only flooded areas are
/// cleared, so `over_since` is the time of a dry version.
fn versions(records: &Value) -> impl Iterator<Item = (u64, Version)> {
    records.as_array().unwrap().iter().map(|record| {
        let record = record.get("properties").unwrap_or(record);
        let times = ["last_updated", "over_since", "since", "changed_at"];
        let at = times.iter().find_map(|name| record[name].as_str()).unwrap_or_default();
        let version = Version { state: record["state"].as_u64(), at: Some(at.to_owned()) };
        (record["area_id"].as_str().unwrap().parse().unwrap(), version)
    })
}

impl<'a> Client<'a> {
    pub(super) fn new(site: &'a Site, number: u64, seed: u64) -> Self {
        let dice = Dice((seed + number).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let (writes, reads, snapshots, logs, conflicts, seen) = Default::default();
        let followed = (Snapshot::new(), "/v1/changes".to_owned());
        Self { site, number, dice, writes, reads, snapshots, logs, conflicts, seen, followed }
    }

    pub(super) fn run(mut self) -> Self {
        while self.site.going.load(Ordering::Relaxed) {
            match self.dice.below(8) {
                0..=3 => self.write(),
                4 => self.read_map("/v1/floods?geoformat=geojson"),
                5 => self.read_map("/v1/floods/states"),
                6 => self.read_changes(),
                _ => self.read_log(),
            }
        }
        self
    }

    /// Sends a request to any server. Returns its response, if it is complete and not 503.
    fn send(&mut self, headers: &str, method: &str, target: &str, body: &Value) -> Option<Response> {
        let server = usize::try_from(self.dice.below(self.site.servers.len() as u64)).unwrap();
        let (authority, body) = (&self.site.servers[server], body.to_string());
        let rest = format!("X-Api-Key: {KEY}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len());
        let begin = self.site.zero.elapsed();
        let response = send(authority, &request(authority, method, target, &rest)).unwrap_or_default();
        let end = self.site.zero.elapsed();
        let (head, body) = response.split_once("\r\n\r\n")?;
        let body = serde_json::from_str(body).ok()?;
        let status = head.split(' ').nth(1)?;
        assert!(["200", "409", "503"].contains(&status), "{target}: {response}");
        let lag =
            if head.to_ascii_lowercase().contains("\r\nsiaga-stale-since:") { STALE } else { self.site.lag };
        (status != "503").then_some(Response { server, begin, end, is_refusal: status == "409", lag, body })
    }

    /// Sets one area, whatever its state, or sends a batch with conditions, until there is a response.
    fn write(&mut self) {
        let (is_batch, mut changes) = (self.dice.below(4) > 0, Changes::new());
        for _ in 0..=self.dice.below(if is_batch { 3 } else { 1 }) {
            let area = 1 + self.dice.below(AREAS);
            let seen = self.seen.get(&area).filter(|seen| seen.state.is_some()).cloned().unwrap_or_default();
            let is_cleared = is_batch && seen.state.is_some() && self.dice.below(4) == 0;
            let state = (!is_cleared).then(|| 1 + self.dice.below(4));
            changes.insert(area, ((is_cleared || is_batch && self.dice.below(8) > 0).then_some(seen), state));
        }
        let mark = format!("{}-{}", self.number, self.writes.len());
        let headers =
            format!("Idempotency-Key: 00000000-0000-0000-{:04x}-{:012x}\r\n", self.number, self.writes.len());
        let (method, target, tries, body) = if is_batch {
            let items = changes.iter().map(|(area, (after, state))| match after {
                Some(after) => json!({ "area_id": area, "state": state, "after": after.at }),
                None => json!({ "area_id": area, "state": state }),
            });
            (
                "POST",
                format!("/v1/floods/changes?username={mark}"),
                3,
                json!({ "changes": items.collect::<Vec<_>>() }),
            )
        } else {
            let (area, (_, state)) = changes.first_key_value().unwrap();
            ("PUT", format!("/v1/floods/{area}?username={mark}"), 1, json!({ "state": state }))
        };
        let begin = self.site.zero.elapsed();
        let mut write = Write { changes, server: 0, begin, end: None, is_refused: false };
        for attempt in 1..=tries {
            let Some(response) = self.send(&headers, method, &target, &body) else {
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            if response.is_refusal {
                // An earlier attempt may still be executed.
                write.is_refused = attempt == 1;
                self.record_conflict(&response, &write.changes);
            } else {
                (write.server, write.end) = (response.server, Some(response.end));
                self.site.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            break;
        }
        self.writes.insert(mark, write);
    }

    /// A conflict contains the versions of some areas. The other areas met their conditions.
    fn record_conflict(&mut self, response: &Response, changes: &Changes) {
        let shown: Snapshot = versions(&response.body["conflicts"]).collect();
        for (area, (after, _)) in changes {
            let Some(after) = after else { continue };
            let conflict = shown.get(area);
            assert!(
                !conflict.is_some_and(|version| after.matches(version)),
                "{changes:?}: {}",
                response.body
            );
            self.record(response, Duration::ZERO, *area, conflict.unwrap_or(after).clone());
        }
        self.conflicts += 1;
        self.seen.extend(shown);
    }

    fn record(&mut self, response: &Response, lag: Duration, area: u64, version: Version) {
        let Response { server, begin, end, .. } = *response;
        let read = Operation { server, begin, end: Some(end), lag, action: Action::Read(version) };
        self.reads.push((area, read));
    }

    fn record_snapshot(&mut self, response: &Response, mut snapshot: Snapshot) {
        for area in 1..=AREAS {
            // Areas that are left out are dry.
            let version = snapshot.entry(area).or_default().clone();
            self.record(response, response.lag, area, version);
        }
        self.snapshots.push(snapshot.clone());
        self.seen = snapshot;
    }

    pub(super) fn read_map(&mut self, target: &str) {
        let Some(response) = self.send("", "GET", target, &Value::Null) else { return };
        let result = &response.body["result"];
        self.record_snapshot(&response, versions(result.get("features").unwrap_or(result)).collect());
    }

    fn read_changes(&mut self) {
        let target = self.followed.1.clone();
        let Some(response) = self.send("", "GET", &target, &Value::Null) else { return };
        let delta = &response.body["result"];
        if delta["full"] == true {
            self.followed.0.clear();
        }
        self.followed.0.extend(versions(&delta["areas"]));
        self.followed.1 = format!("/v1/changes?since={}", delta["cursor"].as_str().unwrap());
        self.record_snapshot(&response, self.followed.0.clone());
    }

    /// Reads the log, which fits on one page. The newest entry of an area is its version.
    pub(super) fn read_log(&mut self) {
        let Some(response) = self.send("", "GET", "/v1/floods/log", &Value::Null) else { return };
        let (mut log, mut areas) = (BTreeMap::<_, Snapshot>::new(), BTreeSet::new());
        let entries = response.body["result"].as_array().unwrap();
        assert!(entries.len() < 1_000, "the log has another page");
        for (entry, (area, version)) in entries.iter().zip(versions(&response.body["result"])) {
            if areas.insert(area) {
                self.record(&response, Duration::ZERO, area, version.clone());
            }
            let stored = log.entry(entry["username"].as_str().unwrap().to_owned()).or_default();
            assert!(stored.insert(area, version).is_none(), "executed twice: {entry}");
        }
        self.logs.push(log);
    }
}
