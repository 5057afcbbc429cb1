//! Batches on a failing network between officers and service.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::crashes::{Stop, on};
use crate::proxy::Proxy;
use crate::running::{KEY, Running};
use crate::service_config::{ServiceConfig, add_areas, file_with_areas, request_json, request_json_with};

/// Runs a test on each persistent store.
fn on_each_store(test: impl Fn(Running)) {
    let file = file_with_areas();
    test(ServiceConfig::in_file(&file.path()).start());
    let cluster = Cluster::new();
    add_areas(&cluster.url());
    test(on(&cluster.url()).start());
}

/// The log of all areas, oldest first.
fn log(authority: &str) -> Vec<Value> {
    let (mut all, mut before) = (Vec::new(), String::new());
    loop {
        let (status, page) =
            request_json(authority, "GET", &format!("/v1/floods/log{before}"), &Value::Null).unwrap();
        assert_eq!(status, 200, "{page}");
        let page = page["result"].as_array().unwrap().clone();
        let Some(last) = page.last() else { break };
        before = format!("?before={}", last["changed_at"].as_str().unwrap());
        all.extend(page);
    }
    all.reverse();
    all
}

/// A deterministic pseudo-random generator.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// What the officers did in all rounds.
#[derive(Default)]
struct Done {
    /// By the note of each acknowledged batch: its areas, and the time of the state that the officer had seen.
    batches: HashMap<String, HashMap<String, Value>>,
    /// Conflicts returned to an officer: the area, and the time of the other state.
    shown: Vec<(u64, String, Value)>,
}

/// What an officer does in a round.
struct Shift<'s> {
    /// The network between the officer and the service.
    authority: &'s str,
    officer: u64,
    areas: Vec<u64>,
    next: &'s AtomicU64,
    done: &'s Mutex<Done>,
}

impl Shift<'_> {
    /// Sets each area once, in batches of up to ten areas, based on the states seen at the beginning.
    fn work(&self, mut seen: HashMap<String, Value>, mut dice: Dice) {
        for part in self.areas.chunks(1 + dice.below(10) as usize) {
            let mut areas: Vec<_> = part.iter().map(ToString::to_string).collect();
            let state = if dice.below(7) == 0 { Value::Null } else { json!(1 + dice.below(4)) };
            while !areas.is_empty() {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                let after = |area: &String| seen.get(area).cloned().unwrap_or(Value::Null);
                let change = |area: &String| json!({ "area_id": area, "state": state, "after": after(area) });
                let changes: Vec<_> = areas.iter().map(change).collect();
                let batch = json!({ "note": number.to_string(), "changes": changes });
                // The same batch with the same idempotency key until there is a response: without one it may have been stored.
                let headers =
                    format!("X-Api-Key: {KEY}\r\nIdempotency-Key: 00000000-0000-0000-0000-{number:012x}\r\n");
                let target = "/v1/floods/changes";
                let send = |()| request_json_with(&headers, self.authority, "POST", target, &batch);
                let (status, body) = iter::repeat(()).find_map(send).unwrap();
                let mut done = self.done.lock().unwrap();
                match status {
                    200 => {
                        let conditions = areas.iter().map(|area| (area.clone(), after(area))).collect();
                        done.batches.insert(number.to_string(), conditions);
                        areas.clear();
                    }
                    409 => {
                        for conflict in body["conflicts"].as_array().unwrap() {
                            let area = conflict["area_id"].as_str().unwrap().to_owned();
                            done.shown.push((self.officer, area.clone(), conflict["since"].clone()));
                            let member = if conflict["state"].is_null() { "state" } else { "since" };
                            seen.insert(area.clone(), conflict[member].clone());
                            // Accept the other officer's state, or overwrite it.
                            if dice.below(2) == 0 {
                                areas.retain(|reserved| *reserved != area);
                            }
                        }
                    }
                    _ => panic!("{status}: {body}"),
                }
            }
        }
    }
}

#[test]
fn two_officers_on_a_bad_network_lose_nothing_and_overwrite_nothing_unseen() {
    on_each_store(|service| {
        let (next, done) = (AtomicU64::new(1), Mutex::new(Done::default()));
        let proxy = Proxy::before_authority(&service.authority);
        let network = proxy.authority();
        for round in 0..3 {
            let (_, states) =
                request_json(&service.authority, "GET", "/v1/floods/states", &Value::Null).unwrap();
            let seen =
                |area: &Value| (area["area_id"].as_str().unwrap().to_owned(), area["last_updated"].clone());
            let seen: HashMap<_, _> = states["result"].as_array().unwrap().iter().map(seen).collect();
            let going = AtomicBool::new(true);
            thread::scope(|scope| {
                let _stop = Stop(&going);
                scope.spawn(|| {
                    let mut dice = Dice(round + 1);
                    while going.load(Ordering::Relaxed) {
                        thread::sleep(Duration::from_millis(20 + dice.below(100)));
                        proxy.cut();
                        thread::sleep(Duration::from_millis(1 + dice.below(10)));
                        proxy.restore();
                    }
                });
                // A third of the sixty areas of each officer is the other's, too.
                let officers = [(1..=60).collect::<Vec<_>>(), (41..=100).rev().collect()];
                let officers: Vec<_> = (1..)
                    .zip(officers)
                    .map(|(officer, areas)| {
                        let shift = Shift { authority: &network, officer, areas, next: &next, done: &done };
                        let seen = seen.clone();
                        scope.spawn(move || shift.work(seen, Dice(1_000 * officer + round)))
                    })
                    .collect();
                for officer in officers {
                    officer.join().unwrap();
                }
            });
        }
        let Done { batches, shown } = done.into_inner().unwrap();
        let log = log(&service.authority);
        let mut stored: HashMap<&str, HashSet<&str>> = HashMap::new();
        let mut standing: HashMap<&str, &Value> = HashMap::new();
        for entry in &log {
            let (note, area) = (entry["note"].as_str().unwrap(), entry["area_id"].as_str().unwrap());
            assert!(stored.entry(note).or_default().insert(area), "batch {note} set area {area} twice");
            let before = standing.get(area).copied().unwrap_or(&Value::Null);
            assert_eq!(&batches[note][area], before, "batch {note} overwrote an unseen state of area {area}");
            standing.insert(area, if entry["state"].is_null() { &Value::Null } else { &entry["changed_at"] });
        }
        assert_eq!(stored.len(), batches.len(), "each batch is in the log");
        assert!(batches.iter().all(|(note, areas)| stored[note.as_str()].len() == areas.len()), "all of it");
        let different: HashSet<_> = shown.iter().map(|shown| format!("{shown:?}")).collect();
        assert_eq!(different.len(), shown.len(), "each conflict was shown once");
        assert!(!shown.is_empty(), "there were conflicts");
    });
}
