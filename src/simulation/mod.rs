//! Runs the parts that follow the store (changes, attention, alerts, webhooks) on several servers under one seed, with faults.
//!
//! All tasks run on one thread under paused time, and every choice comes from the seed: the same seed gives the same trace. The
//! workload decides what a simulation finds, so each seed draws how often each fault and each operation happens, many of them
//! never. Rules are checked with each response, and at the end, when everything works again.

mod clock;
#[path = "../../tests/common/dice.rs"]
mod dice;
mod end;
mod faulty_store;
mod history;
mod random;
mod reader;
mod receivers;
mod server;
mod stores;
mod tests;
mod workload;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rocket::tokio::runtime::Builder;
use rocket::tokio::task::{JoinSet, LocalSet};
use rocket::tokio::time::{Instant, advance, sleep};

use self::clock::SteppingClock;
use self::faulty_store::{FaultyStore, StoreFaults};
use self::history::History;
use self::random::Random;
use self::reader::Reader;
use self::receivers::{Behaviour, Receivers};
use self::server::{EVENTS, Server, config};
use self::workload::{Operation, Workload};
use crate::fixture;
use crate::model::Clock;
use crate::runtime::in_place;
use crate::stores::memory::MemoryStore;
use crate::stores::{AttentionList, Store};

/// How far a clock may be off, in seconds.
const LARGEST_STEP: u64 = 2 * 60 * 60;
const MOST_CONCURRENT: usize = 4;

/// What can happen besides operations and faults of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mishap {
    ClockSteps,
    ServerDies,
    StoreIsAway,
    ReceiverFails,
    TimeJumps,
}

/// What a seed has drawn: what happens, and how often.
#[derive(Debug)]
struct Plan {
    events: u64,
    servers: usize,
    mishaps: Vec<Mishap>,
    /// An operation that is listed more often happens more often.
    operations: Vec<Operation>,
}

impl Plan {
    fn new(random: &Random) -> Self {
        use Mishap::{ClockSteps, ReceiverFails, ServerDies, StoreIsAway, TimeJumps};
        let mut mishaps = vec![ClockSteps, ServerDies, StoreIsAway, ReceiverFails, TimeJumps];
        mishaps.retain(|_| random.has_luck(50));
        let operations = Operation::ALL.into_iter();
        let operations = operations.flat_map(|operation| vec![operation; random.pick(&[0, 1, 1, 4])]);
        let operations = operations.chain([Operation::Set]).collect();
        Self { events: 30 + random.below(100), servers: 1 + random.index(3), mishaps, operations }
    }

    /// Draws a plan for stores in real time, in which nothing has to wait for minutes.
    fn in_real_time(random: &Random, servers: usize) -> Self {
        let mut plan = Self { servers, ..Self::new(random) };
        plan.mishaps.retain(|mishap| matches!(mishap, Mishap::ClockSteps | Mishap::StoreIsAway));
        plan
    }

    fn has(&self, mishap: Mishap) -> bool {
        self.mishaps.contains(&mishap)
    }
}

/// The trace of a simulation, and the rules that it broke.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    trace: Vec<String>,
    violations: Vec<String>,
}

fn simulate(seed: u64) -> Outcome {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let simulation = async {
        let random = Arc::new(Random::new(seed));
        let plan = Plan::new(&random);
        let clock = Arc::new(SteppingClock::new(Instant::now()));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(fixture::dataset(), Arc::clone(&clock) as _));
        let stores = vec![store; plan.servers];
        let faults = StoreFaults::new(&random, 1_000, plan.servers > 1 && random.has_luck(50));
        World::new(plan, random, stores, clock, faults, false).simulate().await
    };
    LocalSet::new().block_on(&runtime, in_place(simulation))
}

/// Runs the simulation of a seed in real time on stores of the same data, one for each server. Returns the broken rules.
async fn simulate_in_real_time(
    seed: u64,
    stores: Vec<Arc<dyn Store>>,
    clock: Arc<SteppingClock>,
) -> Vec<String> {
    let random = Arc::new(Random::new(seed));
    let plan = Plan::in_real_time(&random, stores.len());
    let faults = StoreFaults::new(&random, 20, false);
    World::new(plan, random, stores, clock, faults, true).simulate().await.violations
}

struct World {
    plan: Plan,
    random: Arc<Random>,
    history: Arc<History>,
    faults: Arc<StoreFaults>,
    store: Arc<dyn Store>,
    store_clock: Arc<SteppingClock>,
    servers: Vec<Server>,
    receivers: Arc<Receivers>,
    readers: Vec<Reader>,
    workload: Arc<Workload>,
    clients: JoinSet<()>,
    is_in_real_time: bool,
}

impl World {
    fn new(
        plan: Plan,
        random: Arc<Random>,
        stores: Vec<Arc<dyn Store>>,
        store_clock: Arc<SteppingClock>,
        faults: StoreFaults,
        is_in_real_time: bool,
    ) -> Self {
        let store = Arc::clone(&stores[0]);
        let clock: Arc<dyn Clock> = Arc::clone(&store_clock) as _;
        let history = Arc::new(History::new(Arc::clone(&store), clock, !is_in_real_time));
        let faults = Arc::new(faults);
        let servers = stores.into_iter().enumerate().map(|(number, store)| {
            let clock = Arc::new(SteppingClock::new(store_clock.origin));
            let (faults, history) = (Arc::clone(&faults), Arc::clone(&history));
            let store = FaultyStore::new(number, store, Arc::clone(&clock) as _, faults, history);
            Server { store: Arc::new(store), clock, running: None }
        });
        let servers = servers.collect();
        history.note(format_args!("{plan:?} {faults:?}"));
        Self {
            plan,
            servers,
            receivers: Arc::new(Receivers::new(Arc::clone(&random), Arc::clone(&history))),
            readers: vec![Reader::default(), Reader::default()],
            workload: Arc::new(Workload::new(Arc::clone(&random), Arc::clone(&history))),
            history,
            faults,
            store,
            store_clock,
            clients: JoinSet::new(),
            random,
            is_in_real_time,
        }
    }

    async fn simulate(mut self) -> Outcome {
        self.history.record_states(0).await;
        self.run().await;
        self.end().await;
        let (trace, violations) = self.history.outcome();
        Outcome { trace, violations }
    }

    async fn run(&mut self) {
        for number in 0..self.servers.len() {
            self.start(number).await;
        }
        self.faults.happen.store(true, Ordering::Relaxed);
        for _ in 0..self.plan.events {
            self.event().await;
            if self.history.has_violations() {
                return;
            }
            let pause = self.random.pick(&[0, 0, 0, 0, 10, 10, 100, 100, 1_000, 3_000]);
            let pause = if self.is_in_real_time { pause.min(100) } else { pause };
            sleep(Duration::from_millis(self.random.below(pause + 1))).await;
        }
    }

    async fn start(&mut self, number: usize) {
        self.history.note(format_args!("server {number} starts"));
        let is_only_server = self.servers.len() == 1;
        self.servers[number].start(is_only_server, &self.receivers).await;
    }

    async fn event(&mut self) {
        let number = self.random.index(self.servers.len());
        match self.random.below(100) {
            55..=69 => self.read(number).await,
            70..=74 => self.check_alerts(number).await,
            75..=77 => self.check_attention(number).await,
            78..=82 if self.plan.has(Mishap::ClockSteps) => self.step_clock(number),
            83..=86 if self.plan.has(Mishap::ServerDies) => self.start(number).await,
            87..=90 if self.plan.has(Mishap::StoreIsAway) => self.lose_store(number),
            91..=96 if self.plan.has(Mishap::ReceiverFails) => {
                let (kind, behaviour) = (self.random.pick(&EVENTS), self.random.pick(&Behaviour::ALL));
                self.receivers.behave(kind, behaviour);
                self.history.note(format_args!("the receiver of {kind} {behaviour:?}"));
            }
            97 if self.plan.has(Mishap::TimeJumps) => {
                let seconds = self.random.pick(&[60, 600, 3_600]);
                self.pass(Duration::from_secs(self.random.below(seconds))).await;
            }
            _ => self.operate(number).await,
        }
    }

    /// Starts an operation, and waits for none, or for an earlier one.
    async fn operate(&mut self, number: usize) {
        let operation = self.random.pick(&self.plan.operations);
        let (workload, store) = (Arc::clone(&self.workload), Arc::clone(&self.servers[number].store));
        self.clients.spawn_local(in_place(workload.run(operation, store)));
        while self.clients.len() > MOST_CONCURRENT || !self.clients.is_empty() && self.random.has_luck(50) {
            self.clients.join_next().await.unwrap().unwrap();
        }
    }

    async fn read(&mut self, number: usize) {
        let reader = self.random.index(self.readers.len());
        let Server { store, running: Some(running), .. } = &self.servers[number] else { return };
        self.readers[reader].read(&self.history, store, &running.follower).await;
    }

    async fn check_alerts(&self, number: usize) {
        let Server { store, clock, .. } = &self.servers[number];
        if self.is_in_real_time {
            return;
        }
        reader::check_alerts(&self.history, store, clock).await;
    }

    async fn check_attention(&self, number: usize) {
        let Server { clock, running: Some(running), .. } = &self.servers[number] else { return };
        if self.is_in_real_time {
            return;
        }
        let fresh = AttentionList::new(Arc::clone(&self.store), Arc::clone(clock) as _, config().attention);
        reader::check_attention(&self.history, number, &running.attention, &fresh).await;
    }

    /// Sets a clock ahead or back: that of a server or, half of the time, that of the store.
    fn step_clock(&self, number: usize) {
        let seconds = i64::try_from(self.random.below(2 * LARGEST_STEP)).unwrap();
        let ahead = if self.random.has_luck(30) { 0 } else { 1_000 * (seconds - LARGEST_STEP as i64) };
        let of_store = self.random.has_luck(50);
        let clock = if of_store { &self.store_clock } else { &self.servers[number].clock };
        clock.step_to(ahead);
        let whose = if of_store { "the store".to_owned() } else { format!("server {number}") };
        self.history.note(format_args!("the clock of {whose} is {ahead} ms ahead"));
    }

    fn lose_store(&self, number: usize) {
        let is_away = !self.servers[number].store.is_away.fetch_xor(true, Ordering::Relaxed);
        self.history.note(format_args!("server {number} reaches the store: {}", !is_away));
    }

    /// Lets time pass at once, as on a machine that was suspended.
    async fn pass(&self, time: Duration) {
        self.history.note(format_args!("{time:?} pass"));
        advance(time).await;
    }
}
