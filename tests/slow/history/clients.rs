//! Clients that change and read areas, and record what they sent and received.

use std::collections::BTreeMap;
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

/// A request to change areas.
#[derive(Debug)]
pub(super) struct Write {
    /// By area: the condition and the new state.
    pub(super) changes: BTreeMap<u64, (Option<Version>, Option<u64>)>,
    /// It has an end if it was acknowledged.
    pub(super) operation: Operation,
    /// Whether it was sent once, and refused.
    pub(super) is_refused: bool,
}

pub(super) struct Client<'a> {
    site: &'a Site,
    number: u64,
    dice: Dice,
    /// By the `username` of the request, which is in the log.
    pub(super) writes: BTreeMap<String, Write>,
    /// With their areas.
    pub(super) reads: Vec<(u64, Operation)>,
    pub(super) snapshots: Vec<Snapshot>,
    /// By the `username` of the request.
    pub(super) logs: Vec<BTreeMap<String, Snapshot>>,
    /// The versions that it saw last.
    seen: Snapshot,
    /// The states after all deltas of `/changes`, and the address of the next one.
    followed: (Snapshot, String),
}

/// The areas and versions in records of `/floods`, `/floods/states`, `/changes` and the log, and in conflicts. Only flooded areas
/// are cleared, so `over_since` is the time of a dry version.
fn versions(records: &Value) -> impl DoubleEndedIterator<Item = (u64, Version)> {
    records.as_array().unwrap().iter().map(|record| {
        let record = record.get("properties").unwrap_or(record);
        let times = ["last_updated", "over_since", "since", "changed_at"];
        let at = times.iter().find_map(|name| record[name].as_str()).unwrap_or_default().to_owned();
        let version = Version { state: record["state"].as_u64(), at: Some(at) };
        (record["area_id"].as_str().unwrap().parse().unwrap(), version)
    })
}

impl<'a> Client<'a> {
    pub(super) fn new(site: &'a Site, number: u64, seed: u64) -> Self {
        let dice = Dice(seed.wrapping_add(number));
        let followed = (Snapshot::new(), "/v1/changes".to_owned());
        let (writes, reads, snapshots, logs, seen) = Default::default();
        Self { site, number, dice, writes, reads, snapshots, logs, seen, followed }
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

    /// Sends a request to any server. Returns its times and the body of a complete response other than 503.
    fn send(
        &mut self,
        method: &str,
        target: &str,
        headers: &str,
        body: &Value,
    ) -> Option<(Operation, Value)> {
        let server = usize::try_from(self.dice.below(self.site.servers.len() as u64)).unwrap();
        let (authority, body) = (&self.site.servers[server], body.to_string());
        let rest = format!("X-Api-Key: {KEY}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len());
        let begin = self.site.zero.elapsed();
        let response = send(authority, &request(authority, method, target, &rest)).unwrap_or_default();
        let end = Some(self.site.zero.elapsed());
        let (head, body) = response.split_once("\r\n\r\n")?;
        let body = serde_json::from_str(body).ok()?;
        let status = head.split(' ').nth(1)?;
        assert!(["200", "409", "503"].contains(&status), "{target}: {response}");
        let is_stale = head.to_ascii_lowercase().contains("\r\nsiaga-stale-since:");
        let lag = if is_stale { STALE } else { self.site.lag };
        let operation = Operation { server, begin, end, lag, action: Action::Read(Version::default()) };
        (status != "503").then_some((operation, body))
    }

    /// Sets one area, whatever its state, or sends a batch with conditions, with the same key until there is a response.
    fn write(&mut self) {
        let kind = self.dice.below(4);
        let (is_batch, is_conditional, mut changes) = (kind > 0, kind > 1, BTreeMap::new());
        for _ in 0..=self.dice.below(if is_batch { 3 } else { 1 }) {
            let area = 1 + self.dice.below(AREAS);
            let seen = self.seen.get(&area).filter(|seen| seen.state.is_some()).cloned().unwrap_or_default();
            let is_cleared = is_conditional && seen.state.is_some() && self.dice.below(4) == 0;
            let state = Some(1 + self.dice.below(4)).filter(|_| !is_cleared);
            changes.insert(area, (is_conditional.then_some(seen), state));
        }
        let mark = format!("00000000-0000-0000-{:04x}-{:012x}", self.number, self.writes.len());
        let (area, (_, state)) = changes.first_key_value().unwrap();
        let (method, target, body, tries) = if is_batch {
            let items = changes.iter().map(|(area, (after, state))| match after {
                Some(after) => json!({ "area_id": area, "state": state, "after": after.at }),
                None => json!({ "area_id": area, "state": state }),
            });
            ("POST", "changes".to_owned(), json!({ "changes": items.collect::<Vec<_>>() }), 3)
        } else {
            ("PUT", area.to_string(), json!({ "state": state }), 1)
        };
        let target = format!("/v1/floods/{target}?username={mark}");
        let (begin, lag, action) =
            (self.site.zero.elapsed(), Duration::ZERO, Action::Read(Version::default()));
        let mut operation = Operation { server: 0, begin, end: None, lag, action };
        let mut is_refused = false;
        for attempt in 1..=tries {
            let Some((sent, body)) =
                self.send(method, &target, &format!("Idempotency-Key: {mark}\r\n"), &body)
            else {
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            if let Some(conflicts) = body.get("conflicts") {
                // An earlier attempt may still be executed.
                is_refused = attempt == 1;
                let shown: Snapshot = versions(conflicts).collect();
                for (area, (after, _)) in &changes {
                    let Some(after) = after else { continue };
                    let conflict = shown.get(area);
                    assert!(!conflict.is_some_and(|version| after.matches(version)), "{changes:?}: {body}");
                    // The other areas met their conditions.
                    let action = Action::Read(conflict.unwrap_or(after).clone());
                    self.reads.push((*area, Operation { lag, action, ..sent.clone() }));
                }
                self.seen.extend(shown);
            } else {
                (operation.server, operation.end) = (sent.server, sent.end);
                self.site.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            break;
        }
        self.writes.insert(mark, Write { changes, operation, is_refused });
    }

    fn record_snapshot(&mut self, sent: &Operation, mut snapshot: Snapshot) {
        for area in 1..=AREAS {
            // Areas that are left out are dry.
            let action = Action::Read(snapshot.entry(area).or_default().clone());
            self.reads.push((area, Operation { action, ..sent.clone() }));
        }
        self.snapshots.push(snapshot.clone());
        self.seen = snapshot;
    }

    pub(super) fn read_map(&mut self, target: &str) {
        let Some((sent, body)) = self.send("GET", target, "", &Value::Null) else { return };
        let records = body["result"].get("features").unwrap_or(&body["result"]);
        self.record_snapshot(&sent, versions(records).collect());
    }

    fn read_changes(&mut self) {
        let target = self.followed.1.clone();
        let Some((sent, body)) = self.send("GET", &target, "", &Value::Null) else { return };
        let delta = &body["result"];
        if delta["full"] == true {
            self.followed.0.clear();
        }
        self.followed.0.extend(versions(&delta["areas"]));
        self.followed.1 = format!("/v1/changes?since={}", delta["cursor"].as_str().unwrap());
        self.record_snapshot(&sent, self.followed.0.clone());
    }

    /// Reads all pages of the log, newest first. While it does so, the entries of later pages do not change.
    pub(super) fn read_log(&mut self) {
        let (mut entries, mut begin, mut before) = (Vec::new(), None, String::new());
        let last = loop {
            let target = format!("/v1/floods/log{before}");
            let Some((sent, mut body)) = self.send("GET", &target, "", &Value::Null) else { return };
            begin = begin.or(Some(sent.begin));
            let Value::Array(page) = body["result"].take() else { panic!("{body}") };
            let is_last = page.len() < 1_000;
            entries.extend(page);
            if is_last {
                break sent;
            }
            before = format!("?before={}", entries.last().unwrap()["changed_at"].as_str().unwrap());
        };
        let entries = Value::Array(entries);
        let sent = Operation { begin: begin.unwrap_or(last.begin), lag: Duration::ZERO, ..last };
        for (area, version) in versions(&entries).rev().collect::<Snapshot>() {
            self.reads.push((area, Operation { action: Action::Read(version), ..sent.clone() }));
        }
        let mut log = BTreeMap::<_, Snapshot>::new();
        for (entry, (area, version)) in entries.as_array().unwrap().iter().zip(versions(&entries)) {
            let stored = log.entry(entry["username"].as_str().unwrap().to_owned()).or_default();
            assert!(stored.insert(area, version).is_none(), "executed twice: {entry}");
        }
        self.logs.push(log);
    }
}
