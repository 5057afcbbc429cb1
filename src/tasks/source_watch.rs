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

/// Interval of exchanging the times with the store. A time reaches another server within two intervals.
const INTERVAL: Duration = Duration::from_millis(300);
/// Time limit of the last write at shutdown.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Exchanges with the store the times at which sources last reported, so that other servers and later runs have them.
///
/// A time is stored at most once a second for each source. While the store is unavailable, times stay in memory and are stored
/// later. Without configured sources this does nothing.
#[derive(Clone, Debug)]
pub(crate) struct SourceWatch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    sources: Sources,
    /// Whether the last exchange with the store failed. Then the failure was logged, and is not logged again.
    is_failing: AtomicBool,
}

impl SourceWatch {
    #[must_use]
    pub(crate) fn new(store: Arc<dyn Store>, sources: Sources, metrics: &Metrics) -> Self {
        // Gives the metrics only the sources: a reference to the store would be a cycle, because the store holds metrics.
        let measured = sources.clone();
        metrics.add_source(move |metrics| {
            for (name, age, status) in measured.ages() {
                metrics.source(&name, age, status as i64);
            }
        });
        Self(Arc::new(Inner { store, sources, is_failing: AtomicBool::default() }))
    }

    /// Reads the times from the store. Logs a failure once.
    pub(crate) async fn refresh(&self) {
        if !self.0.sources.is_empty() {
            self.0.log(self.0.read().await);
        }
    }

    /// Stores the remaining times. Times not stored within two seconds are lost.
    pub(crate) async fn flush(&self) {
        // Writes in a separate task, which continues if the caller stops waiting.
        let inner = Arc::clone(&self.0);
        let _ = time::timeout(FLUSH_TIMEOUT, tokio::spawn(async move { inner.write(true).await })).await;
    }
}

impl Inner {
    async fn read(&self) -> Result<(), StoreError> {
        self.sources.merge_stored(self.store.last_heard().await?);
        Ok(())
    }

    /// Stores when sources last reported. `all` includes sources whose time was stored less than a second ago.
    async fn write(&self, all: bool) -> Result<(), StoreError> {
        for (name, at) in self.sources.unstored(all) {
            self.store.heard(&name, at).await?;
            self.sources.mark_stored(&name, at);
        }
        Ok(())
    }

    async fn exchange(&self) -> Result<(), StoreError> {
        let written = self.write(false).await;
        // Reads even if the write failed, because a read-only database still responds to reads.
        self.read().await?;
        written
    }

    /// Logs only the first of successive failures.
    fn log(&self, outcome: Result<(), StoreError>) {
        let failed = outcome.is_err();
        if let Err(error) = outcome
            && !self.is_failing.load(Ordering::Relaxed)
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "cannot read or store when sources last reported");
        }
        self.is_failing.store(failed, Ordering::Relaxed);
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
                time::sleep(INTERVAL).await;
                inner.log(inner.exchange().await);
            }
        });
    }

    async fn on_shutdown(&self, _: &Rocket<Orbit>) {
        self.flush().await;
    }
}
