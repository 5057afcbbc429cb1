//! What receivers get, with a store in memory and a clock that stands still until it is set.

#![allow(clippy::wildcard_imports, reason = "the parts of one suite")]

mod lists;
mod reports;
mod servers;
mod settings;
mod states;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use figment::Figment;
use figment::providers::{Format as _, Serialized, Toml};
use geo::{MultiPolygon, Rect};
use rocket::futures::FutureExt;
use rocket::futures::future::pending;
use serde_json::{Value, json};

use super::dispatcher::hold;
use super::event::Event;
use super::payload_template::{PayloadTemplate, Request};
use super::retry::Outcome;
use super::transport::Transport;
use super::worker::Worker;
use super::{Dispatcher, change, check, checkpoints, pass_import, replay};
use crate::config::{Config, EventKind, Method};
use crate::data::folder::Dataset;
use crate::fixture;
use crate::model::{
    Actor, Area, AreaSet, BatchItem, BatchOperation, BatchRequest, CardHolder, Clock, Condition,
    DisasterType, FloodState, ManualClock, Moderation, ModerationAction, Places, Timestamp,
};
use crate::schema::resources::Sample;
use crate::sources::Sources;
use crate::stores::memory::MemoryStore;
use crate::stores::{SetFloodState, Store};
use crate::telemetry::Metrics;

/// A request as the receiver got it.
#[derive(Clone, Debug)]
struct Got {
    at: Timestamp,
    id: String,
    url: String,
    body: Value,
    size: usize,
    signature: Option<String>,
}

impl Got {
    /// The key of the report.
    fn key(&self) -> u64 {
        self.body["data"]["pkey"].as_str().unwrap().parse().unwrap()
    }
}

/// What a receiver answers to a request; `None` is never.
type Answer = Box<dyn Fn(&Got) -> Option<Outcome> + Send + Sync>;

/// A receiver that answers as it is told.
#[derive(Clone)]
struct Receiver {
    clock: Arc<ManualClock>,
    got: Arc<Mutex<Vec<Got>>>,
    answer: Arc<Mutex<Answer>>,
}

#[allow(clippy::unnecessary_wraps, reason = "an answer")]
fn status(status: u16) -> Option<Outcome> {
    Some(Outcome::Response { status, retry_after: None })
}

#[async_trait]
impl Transport for Receiver {
    async fn post(&self, request: Request) -> Outcome {
        let header = |name| request.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let got = Got {
            at: self.clock.now(),
            id: header("webhook-id").unwrap(),
            url: request.url.to_string(),
            size: request.body.len(),
            body: serde_json::from_slice(&request.body).unwrap_or_default(),
            signature: header("webhook-signature"),
        };
        self.got.lock().unwrap().push(got.clone());
        let answer = (self.answer.lock().unwrap())(&got);
        match answer {
            Some(outcome) => outcome,
            None => pending().await,
        }
    }
}

impl Receiver {
    fn new(clock: &Arc<ManualClock>) -> Self {
        let answer: Answer = Box::new(|_| status(204));
        Self { clock: Arc::clone(clock), got: Arc::default(), answer: Arc::new(Mutex::new(answer)) }
    }

    /// Answers otherwise from now on; with `None`, it never answers.
    fn answers(&self, answer: impl Fn(&Got) -> Option<Outcome> + Send + Sync + 'static) {
        *self.answer.lock().unwrap() = Box::new(answer);
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    fn forget(&self) {
        self.got.lock().unwrap().clear();
    }

    /// Forgets what it got, and accepts all from now on.
    fn is_back(&self) {
        self.forget();
        self.answers(|_| status(200));
    }

    /// The keys of the reports it got, in the order they came.
    fn keys(&self) -> Vec<u64> {
        self.got().iter().filter(|got| got.body["type"] == "report").map(Got::key).collect()
    }

    /// The entries of a list, `areas` or `alerts`, in the order they came.
    fn entries(&self, list: &str) -> Vec<Value> {
        let entries = |got: &Got| got.body["data"][list].as_array().cloned().unwrap_or_default();
        self.got().iter().flat_map(entries).collect()
    }

    /// The area and state of each entry of a list, in the order they came.
    fn states(&self, list: &str) -> Vec<(String, Value)> {
        let entries = self.entries(list).into_iter();
        entries.map(|entry| (entry["area_id"].as_str().unwrap().to_owned(), entry["state"].clone())).collect()
    }
}

fn config(calls: Value) -> Config {
    let values = json!({ "siaga": { "store": "memory", "dataset": "empty", "calls": calls,
        "sources": { "desk": { "subject": "bpbd", "every": "10m" }, "river": { "subject": "gauges", "every": "1h" } },
    } });
    Config::extract(&Figment::from(Serialized::defaults(values))).unwrap()
}

/// A call that tells these events, with further settings.
fn call(on: &str, more: Value) -> Value {
    let mut call = json!({ "url": "https://receiver.example/", "on": on });
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call
}

/// A server that sends.
struct Server {
    clock: Arc<ManualClock>,
    sender: Dispatcher,
    workers: Vec<Worker>,
    metrics: Metrics,
    sources: Sources,
}

impl Server {
    fn new(
        calls: &Value,
        store: &Arc<dyn Store>,
        clock: &Arc<ManualClock>,
        receiver: &Receiver,
        is_only_server: bool,
    ) -> Self {
        let metrics = Metrics::default();
        let clock_of: Arc<dyn Clock> = Arc::clone(clock) as _;
        let config = config(calls.clone());
        let sources = Sources::new(config.sources.clone(), Arc::clone(&clock_of));
        let sender = Dispatcher::new(&config, store, is_only_server, &clock_of, &sources, &metrics).unwrap();
        let mut workers = sender.take_workers();
        for worker in &mut workers {
            worker.client = Arc::new(receiver.clone());
        }
        Self { clock: Arc::clone(clock), sender, workers, metrics, sources }
    }

    /// Lets time pass, and does all that is due meanwhile.
    async fn run(&mut self, duration: Duration) {
        run(&mut [self], duration).await;
    }
}

/// Lets time pass for several servers.
async fn run(servers: &mut [&mut Server], duration: Duration) {
    let clock = Arc::clone(&servers[0].clock);
    let end = clock.now().after(duration);
    let mut held: Option<Timestamp> = None;
    while clock.now() < end {
        let now = clock.now();
        let renews = held.is_none_or(|held| now.since(held) >= Duration::from_secs(5));
        let mut due = end;
        for server in servers.iter_mut() {
            if renews {
                hold(&server.sender.shared).await;
                held = Some(now);
            }
            for worker in &mut server.workers {
                due = due.min(worker.step().await.unwrap());
            }
        }
        clock.set(due.max(now.after(Duration::from_millis(1))).min(end));
    }
}

/// A store with the fixture, a call to a receiver, and a server that sends.
struct Bench {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    receiver: Receiver,
    server: Server,
}

impl Bench {
    async fn new(calls: Value) -> Self {
        Self::with_dataset(fixture::dataset(), calls).await
    }

    async fn with_dataset(dataset: Dataset, calls: Value) -> Self {
        let clock = Arc::new(ManualClock::new(fixture::now()));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(dataset, Arc::clone(&clock) as _));
        let receiver = Receiver::new(&clock);
        let mut server = Server::new(&calls, &store, &clock, &receiver, false);
        server.run(Duration::from_secs(1)).await;
        Self { store, clock, receiver, server }
    }

    /// Another server, with the same store and receiver.
    fn another(&self, calls: &Value) -> Server {
        Server::new(calls, &self.store, &self.clock, &self.receiver, false)
    }

    /// Lets seconds pass, and does all that is due meanwhile.
    async fn run(&mut self, seconds: u64) {
        self.server.run(Duration::from_secs(seconds)).await;
    }

    /// A resident reports a flood.
    async fn report(&self) -> u64 {
        self.report_text("").await
    }

    async fn report_text(&self, text: &str) -> u64 {
        let [username, network, language] = ["100200300", "telegram", "id"].map(str::to_owned);
        let holder = CardHolder { username, network, language, network_data: None };
        let card = self.store.create_card(holder).await.unwrap();
        let mut content = fixture::content(DisasterType::Flood, 0, fixture::place(0.5, 0.5));
        (content.created_at, content.text) = (self.clock.now(), text.into());
        content.url = Some(card.id.as_str().into());
        self.store.receive_card_report(&card.id, content).await.unwrap().key.number()
    }

    async fn reports(&self, count: usize) -> Vec<u64> {
        let mut keys = Vec::new();
        for _ in 0..count {
            keys.push(self.report().await);
        }
        keys
    }

    async fn set(&self, area: u64, code: u64) {
        let (state, by) = (FloodState::try_from(code).ok(), officer());
        let order = SetFloodState { area: fixture::id(area), state, by };
        self.store.set_flood_state(order).await.unwrap();
    }
}

fn officer() -> Actor {
    Actor { subject: "desk".to_owned(), username: None }
}

const HOUR: Duration = Duration::from_hours(1);

fn ids(got: &[Got]) -> BTreeSet<String> {
    got.iter().map(|got| got.id.clone()).collect()
}

/// 24 bytes.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
