use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::futures::FutureExt;
use rocket::futures::future::BoxFuture;
use rocket::tokio::sync::Semaphore;
use rocket::tokio::time;
use rocket::{Build, Orbit, Rocket};

use super::Shared;
use super::lease::Lease;
use super::payload_template::PayloadTemplate;
use super::statuses::WebhookStatuses;
use super::task::repeat;
use super::transport::Transport;
use super::worker::Worker;
use crate::config::{Config, ConfigError};
use crate::model::{Clock, Timestamp};
use crate::runtime::run_in_background;
use crate::sources::Sources;
use crate::stores::{AttentionList, GaugeStatuses, Store};
use crate::telemetry::Metrics;

/// Interval of renewing the lease, or of checking whether it is free.
const RENEW_INTERVAL: Duration = Duration::from_secs(5);
/// How long shutdown waits for the release of the lease.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) struct Dispatcher {
    pub(super) shared: Shared,
    workers: Mutex<Vec<Worker>>,
    /// Further endless tasks that work only while this server holds the lease.
    others: Mutex<Vec<BoxFuture<'static, ()>>>,
}

/// Checks templates, secrets and headers of all webhooks. Returns the first error.
pub(crate) fn check(config: &Config, now: Timestamp) -> Result<(), ConfigError> {
    for (name, settings) in &config.webhooks.by_name {
        PayloadTemplate::new(name, settings, config, now)?;
    }
    Ok(())
}

impl Dispatcher {
    /// Creates a dispatcher. `is_only_server`: no other server uses the store. Each webhook sends with what `transport`
    /// returns for its key `private`.
    pub(crate) fn new(
        config: &Config,
        store: &Arc<dyn Store>,
        is_only_server: bool,
        clock: &Arc<dyn Clock>,
        sources: &Sources,
        metrics: &Metrics,
        transport: impl Fn(bool) -> Result<Arc<dyn Transport>, reqwest::Error>,
    ) -> Result<Self, ConfigError> {
        let invalid = |error: &dyn Error| ConfigError::new("siaga.webhooks", error);
        let lease = Lease::new(Arc::clone(store), Arc::clone(clock), is_only_server)
            .map_err(|error| invalid(&error))?;
        let shared = Shared {
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            metrics: metrics.clone(),
            lease: Arc::new(lease),
            permits: Arc::new(Semaphore::new(config.webhooks.at_once.get().get() as usize)),
            statuses: WebhookStatuses::new(config.webhooks.by_name.keys()),
            sources: sources.clone(),
            attention: Arc::new(AttentionList::new(Arc::clone(store), Arc::clone(clock), config.attention)),
            gauges: Arc::new(GaugeStatuses::new(Arc::clone(store), Arc::clone(clock))),
            issuer: Arc::new(config.issuer()),
            photos: config.photos_url().into(),
        };
        let mut workers = Vec::new();
        for (name, settings) in &config.webhooks.by_name {
            let template = PayloadTemplate::new(name, settings, config, clock.now())?;
            let client = transport(settings.private).map_err(|error| invalid(&error))?;
            metrics.init_webhook(name);
            workers.push(Worker::new(name, settings.clone(), template, client, shared.clone()));
        }
        let (statuses, status_clock) = (shared.statuses.clone(), Arc::clone(clock));
        metrics.add_source(move |metrics| {
            for status in statuses.get() {
                metrics.set_webhook_behind(&status.name, status.behind(status_clock.now()), status.off);
            }
        });
        Ok(Self { shared, workers: Mutex::new(workers), others: Mutex::default() })
    }

    /// Initialises the checkpoints of new webhooks before the first request, so that no event is lost, even if another server
    /// sends. If the store fails, the workers try again later.
    pub(crate) async fn init_checkpoints(&mut self) {
        for worker in self.workers.get_mut().unwrap_or_else(PoisonError::into_inner) {
            if let Err(error) = worker.load_checkpoint(None).await {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "new webhooks start later: the store cannot be read"
                );
                break;
            }
        }
    }

    pub(crate) fn attach_to(self, rocket: Rocket<Build>) -> Rocket<Build> {
        let Shared { statuses, attention, gauges, .. } = &self.shared;
        rocket.manage(statuses.clone()).manage(Arc::clone(attention)).manage(Arc::clone(gauges)).attach(self)
    }

    pub(crate) fn gauges(&self) -> Arc<GaugeStatuses> {
        Arc::clone(&self.shared.gauges)
    }

    /// Adds endless tasks that work only while this server holds the lease.
    pub(crate) fn add_tasks(&mut self, tasks: impl FnOnce(&Arc<Lease>) -> Vec<BoxFuture<'static, ()>>) {
        let tasks = tasks(&self.shared.lease);
        self.others.get_mut().unwrap_or_else(PoisonError::into_inner).extend(tasks);
    }

    pub(super) fn take_workers(&self) -> Vec<Worker> {
        std::mem::take(&mut *self.workers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the endless tasks that hold the lease and send the requests. There are none without webhooks and further tasks, and at
    /// the second call.
    pub(crate) fn take_tasks(&self) -> Vec<BoxFuture<'static, ()>> {
        let workers = self.take_workers();
        let others = std::mem::take(&mut *self.others.lock().unwrap_or_else(PoisonError::into_inner));
        if workers.is_empty() && others.is_empty() {
            return Vec::new();
        }
        let shared = self.shared.clone();
        let leasing = async move {
            loop {
                renew_lease(&shared).await;
                time::sleep(RENEW_INTERVAL).await;
            }
        };
        let sending = workers.into_iter().map(|worker| repeat(worker).boxed());
        [leasing.boxed()].into_iter().chain(sending).chain(others).collect()
    }
}

/// Acquires or renews the lease. A server without the lease updates its statuses from the store.
pub(super) async fn renew_lease(shared: &Shared) {
    match shared.lease.acquire_or_renew().await {
        Ok(Some(states)) if shared.lease.epoch().is_none() => shared.statuses.update(&states),
        Ok(_) => {}
        Err(error) => tracing::debug!(error = &error as &dyn Error, "cannot renew the lease of the webhooks"),
    }
}

#[rocket::async_trait]
impl Fairing for Dispatcher {
    fn info(&self) -> Info {
        Info { name: "Webhooks", kind: Kind::Liftoff | Kind::Shutdown }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        for task in self.take_tasks() {
            run_in_background(rocket, task);
        }
    }

    async fn on_shutdown(&self, _: &Rocket<Orbit>) {
        // If this fails or takes too long, another server waits until the lease expires.
        drop(time::timeout(RELEASE_TIMEOUT, self.shared.lease.release()).await);
    }
}
