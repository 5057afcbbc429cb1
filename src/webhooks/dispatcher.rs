use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::sync::Semaphore;
use rocket::tokio::time;
use rocket::{Build, Orbit, Rocket};

use super::Shared;
use super::lease::Lease;
use super::payload_template::PayloadTemplate;
use super::resolver::SystemLookup;
use super::statuses::WebhookStatuses;
use super::transport::HttpClient;
use super::worker::{LOOK, Worker};
use crate::config::{Config, ConfigError};
use crate::model::{Clock, Timestamp};
use crate::runtime::run_in_background;
use crate::sources::Sources;
use crate::stores::{AttentionList, Store};
use crate::telemetry::Metrics;

/// How often the lease is renewed, or looked at.
const ROUND: Duration = Duration::from_secs(5);
/// How long to wait after the store has failed.
const AWAY: Duration = Duration::from_secs(1);
/// How long shutdown waits until the lease is given back.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends the configured calls while the server runs, if this server has the lease.
pub(crate) struct Dispatcher {
    pub(super) shared: Shared,
    /// Those that do not run yet.
    workers: Mutex<Vec<Worker>>,
}

/// Checks the templates, secrets and headers of all calls.
///
/// # Errors
///
/// [`ConfigError`] for the first one that is wrong.
pub(crate) fn check(config: &Config, now: Timestamp) -> Result<(), ConfigError> {
    for (name, settings) in &config.calls.by_name {
        PayloadTemplate::new(name, settings, config, now)?;
    }
    Ok(())
}

impl Dispatcher {
    /// Makes what sends the calls of a configuration. `is_only_server` tells that the store serves no other server.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if a call is wrong, or the system has no random numbers or certificates.
    pub(crate) fn new(
        config: &Config,
        store: &Arc<dyn Store>,
        is_only_server: bool,
        clock: &Arc<dyn Clock>,
        sources: &Sources,
        metrics: &Metrics,
    ) -> Result<Self, ConfigError> {
        let wrong = |error: &dyn Error| ConfigError::new("siaga.calls", error);
        let lease = Lease::new(Arc::clone(store), Arc::clone(clock), is_only_server)
            .map_err(|error| wrong(&error))?;
        let shared = Shared {
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            metrics: metrics.clone(),
            lease: Arc::new(lease),
            permits: Arc::new(Semaphore::new(config.calls.at_once.get().get() as usize)),
            statuses: WebhookStatuses::new(config.calls.by_name.keys()),
            sources: sources.clone(),
            attention: Arc::new(AttentionList::new(Arc::clone(store), Arc::clone(clock), config.attention)),
            issuer: Arc::new(config.issuer()),
            photos: config.photos_url().into(),
        };
        let mut workers = Vec::new();
        for (name, settings) in &config.calls.by_name {
            let composer = PayloadTemplate::new(name, settings, config, clock.now())?;
            let client = HttpClient::new(settings.private, SystemLookup).map_err(|error| wrong(&error))?;
            metrics.calls_begin(name);
            workers.push(Worker::new(name, settings.clone(), composer, client, shared.clone()));
        }
        let (statuses, clock_of) = (shared.statuses.clone(), Arc::clone(clock));
        metrics.add_source(move |metrics| {
            for status in statuses.get() {
                metrics.call_behind(&status.name, status.behind(clock_of.now()), status.off);
            }
        });
        Ok(Self { shared, workers: Mutex::new(workers) })
    }

    /// Lets the calls that are new begin now, also if another server sends: they miss nothing of what the first requests cause. If the
    /// store fails, they begin with the first one that can read it.
    pub(crate) async fn begin(&mut self) {
        for worker in self.workers.get_mut().unwrap_or_else(PoisonError::into_inner) {
            if let Err(error) = worker.begin(None).await {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "new calls begin later: the store cannot be read"
                );
                break;
            }
        }
    }

    /// Lets a server send the calls, know how far they have come, and share the list of areas that need attention.
    pub(crate) fn attach_to(self, rocket: Rocket<Build>) -> Rocket<Build> {
        rocket.manage(self.shared.statuses.clone()).manage(Arc::clone(&self.shared.attention)).attach(self)
    }

    /// Returns what sends each call.
    pub(super) fn take_workers(&self) -> Vec<Worker> {
        std::mem::take(&mut *self.workers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Takes or renews the lease, and learns how far the calls have come on another server.
pub(super) async fn hold(shared: &Shared) {
    match shared.lease.step().await {
        Ok(Some(kept)) if shared.lease.epoch().is_none() => shared.statuses.learn(&kept),
        Ok(_) => {}
        Err(error) => tracing::debug!(error = &error as &dyn Error, "the lease of calls is not renewed"),
    }
}

async fn run(mut worker: Worker, shared: Shared) {
    let mut is_failing = false;
    loop {
        let pause = match worker.step().await {
            Ok(due) => {
                is_failing = false;
                due.since(shared.clock.now()).min(LOOK)
            }
            Err(error) => {
                if !is_failing {
                    tracing::warn!(error = &error as &dyn Error, "calls wait for the store");
                }
                is_failing = true;
                AWAY
            }
        };
        time::sleep(pause).await;
    }
}

#[rocket::async_trait]
impl Fairing for Dispatcher {
    fn info(&self) -> Info {
        Info { name: "Outgoing calls", kind: Kind::Liftoff | Kind::Shutdown }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        let workers = self.take_workers();
        if workers.is_empty() {
            return;
        }
        let shared = self.shared.clone();
        run_in_background(rocket, async move {
            loop {
                hold(&shared).await;
                time::sleep(ROUND).await;
            }
        });
        for worker in workers {
            run_in_background(rocket, run(worker, self.shared.clone()));
        }
    }

    async fn on_shutdown(&self, _: &Rocket<Orbit>) {
        // If it is late or fails, another server waits for the end of the lease.
        drop(time::timeout(PATIENCE, self.shared.lease.release()).await);
    }
}
