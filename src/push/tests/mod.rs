//! Which messages phones get, with a memory store, a manual clock and push services made up.

mod messages;
mod subscriptions;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use figment::Figment;
use figment::providers::Serialized;
use rocket::futures::FutureExt;
use rocket::futures::future::BoxFuture;
use serde_json::{Value, json};

use super::encryption::tests::Browser;
use super::fan_out::FanOut;
use super::sender::Sender;
use super::subscription::Subscription;
use super::{PushError, PushService};
use crate::config::Config;
use crate::fixture;
use crate::folder::Dataset;
use crate::model::bodies::{PushAreas, PushBody};
use crate::model::{
    Actor, AreaLimit, BatchItem, BatchOperation, BatchOutcome, BatchRequest, Clock, Condition, FloodState,
    ManualClock,
};
use crate::stores::memory::MemoryStore;
use crate::stores::{SetFloodState, Store};
use crate::telemetry::Metrics;
use crate::webhooks::{Lease, Outcome, Request, Transport};

/// A request that a push service got, with what its browser reads.
#[derive(Clone, Debug)]
struct Delivered {
    endpoint: String,
    headers: BTreeMap<String, String>,
    message: Value,
}

impl Delivered {
    fn title(&self) -> &str {
        self.message["title"].as_str().unwrap()
    }

    fn body(&self) -> &str {
        self.message["body"].as_str().unwrap()
    }
}

type Responder = Box<dyn Fn(&str) -> Outcome + Send + Sync>;

/// The push services. Messages are not encrypted for them.
#[derive(Clone)]
struct Services {
    /// What happens while the next message is sent.
    meanwhile: Arc<Mutex<Option<BoxFuture<'static, ()>>>>,
    delivered: Arc<Mutex<Vec<Delivered>>>,
    responder: Arc<Mutex<Responder>>,
}

fn status(status: u16) -> Outcome {
    Outcome::Response { status, retry_after: None }
}

#[async_trait]
impl Transport for Services {
    async fn send(&self, request: Request) -> Outcome {
        let endpoint = request.url.to_string();
        let headers = request.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        let message = serde_json::from_slice(&request.body).unwrap();
        self.delivered.lock().unwrap().push(Delivered { endpoint: endpoint.clone(), headers, message });
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some(meanwhile) = meanwhile {
            meanwhile.await;
        }
        (self.responder.lock().unwrap())(&endpoint)
    }
}

struct Bench {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    services: Services,
    push: PushService,
    lease: Arc<Lease>,
    fan_out: FanOut,
    senders: Vec<Sender>,
}

fn config(more: Value) -> Config {
    let mut values = json!({ "siaga": {
        "store": "memory", "dataset": "empty", "push": { "enabled": true }, "formats": { "cap": { "status": "Actual" } },
    } });
    values["siaga"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Config::extract(&Figment::from(Serialized::defaults(values))).unwrap()
}

impl Bench {
    async fn new() -> Self {
        Self::with(json!({})).await
    }

    async fn with(settings: Value) -> Self {
        Self::with_data(settings, fixture::dataset()).await
    }

    async fn with_data(settings: Value, data: Dataset) -> Self {
        let clock = Arc::new(ManualClock::new(fixture::now()));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(data, Arc::clone(&clock) as Arc<dyn Clock>));
        let responder: Responder = Box::new(|_| status(201));
        let responder = Arc::new(Mutex::new(responder));
        let services = Services { meanwhile: Arc::default(), delivered: Arc::default(), responder };
        let shared_clock: Arc<dyn Clock> = Arc::clone(&clock) as _;
        let transport = Arc::new(services.clone());
        let mut push =
            PushService::new(&config(settings), &store, &shared_clock, &Metrics::default(), transport);
        Arc::get_mut(&mut push.0).unwrap().encrypt = |_, message| Ok(message.to_vec());
        let lease = Arc::new(Lease::new(Arc::clone(&store), shared_clock, true).unwrap());
        let fan_out = FanOut::new(Arc::clone(&push.0), Arc::clone(&lease));
        let hosts = push.0.settings.services.clone();
        let senders = hosts.iter().map(|host| Sender::new(Arc::clone(&push.0), Arc::clone(&lease), host));
        let senders = senders.collect();
        let mut bench = Self { store, clock, services, push, lease, fan_out, senders };
        bench.run(1).await;
        bench
    }

    /// Starts the tasks again, as after a crash.
    fn restart(&mut self) {
        let shared = &self.push.0;
        self.fan_out = FanOut::new(Arc::clone(shared), Arc::clone(&self.lease));
        let hosts = shared.settings.services.iter();
        self.senders =
            hosts.map(|host| Sender::new(Arc::clone(shared), Arc::clone(&self.lease), host)).collect();
    }

    async fn run(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.lease.acquire_or_renew().await.unwrap();
            while self.fan_out.step().await.unwrap().is_zero() {}
            for sender in &mut self.senders {
                while sender.step().await.unwrap().is_zero() {}
            }
            self.clock.set(self.clock.now().saturating_add(Duration::from_secs(1)));
        }
    }

    fn body(endpoint: &str, areas: &[u64]) -> PushBody {
        let browser = Browser::new();
        PushBody {
            endpoint: endpoint.to_owned(),
            p256dh: browser.public,
            auth: browser.auth,
            areas: PushAreas::Areas(areas.iter().map(|area| fixture::id(*area)).collect()),
            language: "en".to_owned(),
            minimum_state: None,
        }
    }

    /// Subscribes a phone, and forgets its first message. A minute passes.
    async fn subscribe(&mut self, endpoint: &str, areas: &[u64]) -> (u64, String) {
        let body = Self::body(endpoint, areas);
        let subscribed = self.push.subscribe(&body, || Ok(())).await.unwrap();
        self.run(61).await;
        self.delivered();
        (subscribed.id, subscribed.secret)
    }

    async fn set(&self, area: u64, state: impl Into<Option<u64>>) {
        set(&*self.store, area, state.into()).await;
    }

    /// Returns what was delivered since the last call.
    fn delivered(&self) -> Vec<Delivered> {
        std::mem::take(&mut *self.services.delivered.lock().unwrap())
    }

    fn respond(&self, responder: impl Fn(&str) -> Outcome + Send + Sync + 'static) {
        *self.services.responder.lock().unwrap() = Box::new(responder);
    }

    fn meanwhile(&self, act: impl Future<Output = ()> + Send + 'static) {
        *self.services.meanwhile.lock().unwrap() = Some(act.boxed());
    }

    async fn count(&self) -> u64 {
        self.store.count_push_records().await.unwrap()
    }
}

async fn set(store: &dyn Store, area: u64, state: Option<u64>) {
    let state = state.map(fixture::state);
    let request =
        SetFloodState { area: fixture::id(area), state, by: officer(), limit: AreaLimit::Everywhere };
    store.set_flood_state(request).await.unwrap();
}

fn officer() -> Actor {
    Actor { subject: "desk".to_owned(), username: None }
}

const PHONE: &str = "https://fcm.googleapis.com/fcm/send/one";
const OTHER: &str = "https://updates.push.services.mozilla.com/wpush/v2/two";
const THIRD: &str = "https://web.push.apple.com/three";
