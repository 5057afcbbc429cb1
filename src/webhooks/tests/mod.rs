//! Tests which requests receivers get, with a memory store and a manual clock.

#![allow(clippy::wildcard_imports, reason = "the parts of one suite")]

mod lists;
mod reports;
mod servers;
mod settings;
mod states;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use figment::Figment;
use figment::providers::{Format as _, Serialized, Toml};
use geo::{MultiPolygon, Rect};
use rocket::futures::FutureExt;
use rocket::futures::future::pending;
use serde_json::{Value, json};

use super::dispatcher::renew_lease;
use super::event::Event;
use super::payload_template::{PayloadTemplate, Request};
use super::retry::Outcome;
use super::transport::Transport;
use super::worker::Worker;
use super::{Dispatcher, check, checkpoints, replay, skip_imported, update_checkpoint};
use crate::config::{Config, EventKind, Method};
use crate::data::folder::Dataset;
use crate::fixture;
use crate::model::{
    Actor, Area, AreaLimit, AreaSet, BatchItem, BatchOperation, BatchRequest, CardHolder, Clock, Condition,
    DisasterType, FloodState, ManualClock, Moderation, ModerationAction, Places, Timestamp,
};
use crate::schema::resources::Sample;
use crate::sources::Sources;
use crate::stores::memory::MemoryStore;
use crate::stores::{JudgedGauges, SetFloodState, Store};
use crate::telemetry::Metrics;

#[derive(Clone, Debug)]
struct ReceivedRequest {
    at: Timestamp,
    id: String,
    url: String,
    body: Value,
    size: usize,
    signature: Option<String>,
}

impl ReceivedRequest {
    fn key(&self) -> u64 {
        self.body["data"]["pkey"].as_str().unwrap().parse().unwrap()
    }
}

/// Returns the outcome of a request; `None` if no response ever comes.
type Responder = Box<dyn Fn(&ReceivedRequest) -> Option<Outcome> + Send + Sync>;

#[derive(Clone)]
struct Receiver {
    clock: Arc<ManualClock>,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    responder: Arc<Mutex<Responder>>,
}

#[allow(clippy::unnecessary_wraps, reason = "a responder")]
fn status(status: u16) -> Option<Outcome> {
    Some(Outcome::Response { status, retry_after: None })
}

#[async_trait]
impl Transport for Receiver {
    async fn send(&self, request: Request) -> Outcome {
        let header = |name| request.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let got = ReceivedRequest {
            at: self.clock.now(),
            id: header("webhook-id").unwrap(),
            url: request.url.to_string(),
            size: request.body.len(),
            body: serde_json::from_slice(&request.body).unwrap_or_default(),
            signature: header("webhook-signature"),
        };
        self.requests.lock().unwrap().push(got.clone());
        let outcome = (self.responder.lock().unwrap())(&got);
        match outcome {
            Some(outcome) => outcome,
            None => pending().await,
        }
    }
}

impl Receiver {
    fn new(clock: &Arc<ManualClock>) -> Self {
        let responder: Responder = Box::new(|_| status(204));
        Self {
            clock: Arc::clone(clock),
            requests: Arc::default(),
            responder: Arc::new(Mutex::new(responder)),
        }
    }

    fn respond_with(&self, responder: impl Fn(&ReceivedRequest) -> Option<Outcome> + Send + Sync + 'static) {
        *self.responder.lock().unwrap() = Box::new(responder);
    }

    fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    fn clear(&self) {
        self.requests.lock().unwrap().clear();
    }

    fn recover(&self) {
        self.clear();
        self.respond_with(|_| status(200));
    }

    fn keys(&self) -> Vec<u64> {
        self.requests()
            .iter()
            .filter(|request| request.body["type"] == "report")
            .map(ReceivedRequest::key)
            .collect()
    }

    fn entries(&self, list: &str) -> Vec<Value> {
        let sent_entries =
            |request: &ReceivedRequest| request.body["data"][list].as_array().cloned().unwrap_or_default();
        self.requests().iter().flat_map(sent_entries).collect()
    }

    fn states(&self, list: &str) -> Vec<(String, Value)> {
        let entries = self.entries(list).into_iter();
        entries.map(|entry| (entry["area_id"].as_str().unwrap().to_owned(), entry["state"].clone())).collect()
    }
}

fn config(webhooks: Value) -> Config {
    let values = json!({ "siaga": { "store": "memory", "dataset": "empty", "webhooks": webhooks,
        "sources": { "desk": { "subject": "bpbd", "every": "10m" }, "river": { "subject": "gauges", "every": "1h" } },
    } });
    Config::extract(&Figment::from(Serialized::defaults(values))).unwrap()
}

fn webhook(event: &str, more: Value) -> Value {
    let mut webhook = json!({ "url": "https://receiver.example/", "event": event });
    webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    webhook
}

struct Server {
    clock: Arc<ManualClock>,
    dispatcher: Dispatcher,
    workers: Vec<Worker>,
    metrics: Metrics,
    sources: Sources,
}

impl Server {
    fn new(
        webhooks: &Value,
        store: &Arc<dyn Store>,
        clock: &Arc<ManualClock>,
        receiver: &Receiver,
        is_only_server: bool,
    ) -> Self {
        let metrics = Metrics::default();
        let shared_clock: Arc<dyn Clock> = Arc::clone(clock) as _;
        let config = config(webhooks.clone());
        let sources = Sources::new(config.sources.clone(), Arc::clone(&shared_clock));
        let transport = |_: bool| -> Result<Arc<dyn Transport>, _> { Ok(Arc::new(receiver.clone())) };
        let dispatcher =
            Dispatcher::new(&config, store, is_only_server, &shared_clock, &sources, &metrics, transport)
                .unwrap();
        let workers = dispatcher.take_workers();
        Self { clock: Arc::clone(clock), dispatcher, workers, metrics, sources }
    }

    async fn run(&mut self, duration: Duration) {
        run(&mut [self], duration).await;
    }
}

/// Returns what the clock will show at a monotonic time.
fn time_at(clock: &ManualClock, monotonic: Instant) -> Timestamp {
    clock.now().saturating_add(monotonic.saturating_duration_since(clock.monotonic()))
}

async fn run(servers: &mut [&mut Server], duration: Duration) {
    let clock = Arc::clone(&servers[0].clock);
    let end = clock.now().saturating_add(duration);
    let mut held: Option<Timestamp> = None;
    while clock.now() < end {
        let now = clock.now();
        let renews = held.is_none_or(|held| now.saturating_duration_since(held) >= Duration::from_secs(5));
        let mut due = end;
        for server in servers.iter_mut() {
            if renews {
                renew_lease(&server.dispatcher.shared).await;
                held = Some(now);
            }
            for worker in &mut server.workers {
                due = due.min(time_at(&clock, worker.step().await.unwrap()));
            }
        }
        clock.set(due.max(now.saturating_add(Duration::from_millis(1))).min(end));
    }
}

struct Bench {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    receiver: Receiver,
    server: Server,
}

impl Bench {
    async fn new(webhooks: Value) -> Self {
        Self::with_dataset(fixture::dataset(), webhooks).await
    }

    async fn with_dataset(dataset: Dataset, webhooks: Value) -> Self {
        let clock = Arc::new(ManualClock::new(fixture::now()));
        let store = Arc::new(MemoryStore::new(dataset, Arc::clone(&clock) as _));
        let rules = config(webhooks.clone()).gauges;
        let store: Arc<dyn Store> = Arc::new(JudgedGauges::new(store, rules, Arc::clone(&clock) as _));
        let receiver = Receiver::new(&clock);
        let mut server = Server::new(&webhooks, &store, &clock, &receiver, false);
        server.run(Duration::from_secs(1)).await;
        Self { store, clock, receiver, server }
    }

    fn new_server(&self, webhooks: &Value) -> Server {
        Server::new(webhooks, &self.store, &self.clock, &self.receiver, false)
    }

    async fn run(&mut self, seconds: u64) {
        self.server.run(Duration::from_secs(seconds)).await;
    }

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
        let request = SetFloodState { area: fixture::id(area), state, by, limit: AreaLimit::Everywhere };
        self.store.set_flood_state(request).await.unwrap();
    }
}

fn officer() -> Actor {
    Actor { subject: "desk".to_owned(), username: None }
}

const HOUR: Duration = Duration::from_hours(1);

fn ids(got: &[ReceivedRequest]) -> BTreeSet<String> {
    got.iter().map(|got| got.id.clone()).collect()
}

/// A valid secret, which encodes 24 bytes.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
