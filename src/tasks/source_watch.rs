use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::{self, time};
use rocket::{Orbit, Rocket};

use crate::runtime::run_in_background;
use crate::sources::Sources;
use crate::stores::{Store, StoreError};
use crate::telemetry::Metrics;

/// How often times are exchanged with the store: a time reaches another server within two rounds.
const ROUND: Duration = Duration::from_millis(300);
/// How long shutdown waits until the last times are stored.
const PATIENCE: Duration = Duration::from_secs(2);

/// Exchanges with the store when sources were last heard, so that other servers and later runs know it.
///
/// A time of a source is stored at most once a second. While the store is away, this server's own times stay in memory, and
/// are stored when it is back. Without configured sources this does nothing.
#[derive(Clone, Debug)]
pub(crate) struct SourceWatch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    sources: Sources,
    /// Whether it was logged that the store fails.
    failing: AtomicBool,
}

impl SourceWatch {
    /// Makes a task that keeps `sources` in step with `store`, and shows them in `metrics`.
    #[must_use]
    pub(crate) fn new(store: Arc<dyn Store>, sources: Sources, metrics: &Metrics) -> Self {
        // The metrics must not hold the store, which holds metrics.
        let measured = sources.clone();
        metrics.add_source(move |metrics| {
            for (name, age, status) in measured.ages() {
                metrics.source(&name, age, status as i64);
            }
        });
        Self(Arc::new(Inner { store, sources, failing: AtomicBool::default() }))
    }

    /// Reads when the sources were last heard. A failure is logged once.
    pub(crate) async fn refresh(&self) {
        if !self.0.sources.is_empty() {
            self.0.log(self.0.read().await);
        }
    }

    /// Stores the times that are not stored yet. If that takes more than two seconds, they may be lost.
    pub(crate) async fn flush(&self) {
        // Runs in its own task, because the caller may stop waiting.
        let inner = Arc::clone(&self.0);
        let _ = time::timeout(PATIENCE, tokio::spawn(async move { inner.write(true).await })).await;
    }
}

impl Inner {
    async fn read(&self) -> Result<(), StoreError> {
        self.sources.learn(self.store.last_heard().await?);
        Ok(())
    }

    async fn write(&self, all: bool) -> Result<(), StoreError> {
        for (name, at) in self.sources.unstored(all) {
            self.store.heard(&name, at).await?;
            self.sources.stored(&name, at);
        }
        Ok(())
    }

    async fn exchange(&self) -> Result<(), StoreError> {
        let written = self.write(false).await;
        // A database that accepts no writes may still respond to reads.
        self.read().await?;
        written
    }

    fn log(&self, outcome: Result<(), StoreError>) {
        let failed = outcome.is_err();
        if let Err(error) = outcome
            && !self.failing.load(Ordering::Relaxed)
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the store cannot say or record when sources were last heard");
        }
        self.failing.store(failed, Ordering::Relaxed);
    }
}

#[rocket::async_trait]
impl Fairing for SourceWatch {
    fn info(&self) -> Info {
        Info { name: "Source watch", kind: Kind::Liftoff | Kind::Shutdown }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        if self.0.sources.is_empty() {
            return;
        }
        let inner = Arc::clone(&self.0);
        run_in_background(rocket, async move {
            loop {
                time::sleep(ROUND).await;
                inner.log(inner.exchange().await);
            }
        });
    }

    async fn on_shutdown(&self, _: &Rocket<Orbit>) {
        self.flush().await;
    }
}
