use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use figment::Figment;
use figment::providers::Serialized;
use rocket::tokio::task::JoinSet;
use serde_json::json;

use super::clock::SteppingClock;
use super::faulty_store::FaultyStore;
use super::receivers::{Client, Receivers};
use crate::changes::Follower;
use crate::config::Config;
use crate::model::Clock;
use crate::runtime::in_place;
use crate::sources::Sources;
use crate::stores::{AttentionList, Store};
use crate::telemetry::Metrics;
use crate::webhooks::{Dispatcher, Transport};

pub(super) const EVENTS: [&str; 4] = ["report", "state", "alert", "attention"];

/// The parts of one server that follow the store: changes, attention and webhooks. Its other parts only respond to requests.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) store: Arc<FaultyStore>,
    pub(super) clock: Arc<SteppingClock>,
    pub(super) running: Option<Running>,
}

#[derive(Debug)]
pub(super) struct Running {
    pub(super) follower: Follower,
    pub(super) attention: Arc<AttentionList>,
    /// Dropping them kills the server at the await where each of them is.
    _tasks: JoinSet<()>,
}

pub(super) fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let webhook = |event| (event, json!({ "url": "https://receiver.example/", "event": event }));
        let webhooks = BTreeMap::from(EVENTS.map(webhook));
        let values = json!({ "siaga": { "store": "memory", "dataset": "empty", "webhooks": webhooks } });
        Config::extract(&Figment::from(Serialized::defaults(values))).unwrap()
    })
}

impl Server {
    pub(super) async fn start(&mut self, is_only_server: bool, receivers: &Arc<Receivers>) {
        self.running = None;
        let store: Arc<dyn Store> = Arc::clone(&self.store) as _;
        let clock: Arc<dyn Clock> = Arc::clone(&self.clock) as _;
        let (config, metrics) = (config(), Metrics::default());
        let sources = Sources::new(BTreeMap::new(), Arc::clone(&clock));
        let transport = |_: bool| -> Result<Arc<dyn Transport>, _> {
            Ok(Arc::new(Client { server: self.store.server, receivers: Arc::clone(receivers) }))
        };
        let mut dispatcher =
            Dispatcher::new(config, &store, is_only_server, &clock, &sources, &metrics, transport).unwrap();
        dispatcher.init_checkpoints().await;
        let follower = Follower::new(Arc::clone(&store), Arc::clone(&clock), metrics);
        let attention = Arc::new(AttentionList::new(store, clock, config.attention));
        let mut tasks = JoinSet::new();
        tasks.spawn(in_place(follower.clone().follow()));
        for task in dispatcher.take_tasks() {
            tasks.spawn(in_place(task));
        }
        self.running = Some(Running { follower, attention, _tasks: tasks });
    }
}
