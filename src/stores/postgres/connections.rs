use std::time::{Duration, Instant};

use futures::FutureExt;
use sqlx::PgConnection;
use tokio::sync::watch;
use tokio::{select, time};

use super::error::{DatabaseError, is_contention, unavailable};
use super::fair_semaphore::FairSemaphore;
use super::link::Link;
use super::listener::Announcer;
use super::pool::{PoolUsage, PostgresPool};
use super::statement::{Query, Row, Statement};
use crate::stores::StoreError;
use crate::telemetry::Metrics;

#[derive(Debug)]
pub(super) struct Connections {
    pool: PostgresPool,
    /// Limits writers to fewer than all connections, so that reads always find a free connection.
    writers: FairSemaphore,
    timeout: Duration,
    /// True once the schema has been checked.
    ready: watch::Receiver<bool>,
    announcer: Announcer,
    pub(super) metrics: Metrics,
}

/// Acquire timeout while the database is lost. It is long enough for many operations to connect as soon as the database is back.
const LOST_TIMEOUT: Duration = Duration::from_secs(1);
const IS_LOST: &str = "the database is lost";
/// How long an operation may continue after the database was lost.
const GRACE: Duration = Duration::from_secs(1);
/// How long an operation retries while other sessions hold locks: this long, but at most a quarter of its timeout.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(3);
const LOCK_WAIT_DIVISOR: u32 = 4;
/// First and longest pause between retries. An operation holds no connection while it pauses.
const PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_millis(400);

impl Connections {
    pub(super) fn new(
        pool: PostgresPool,
        timeout: Duration,
        ready: watch::Receiver<bool>,
        announcer: Announcer,
        metrics: Metrics,
    ) -> Self {
        // A quarter of the connections, if there is more than one, is reserved for reads.
        let max = pool.max_connections();
        let writers = FairSemaphore::new("writing calls", (max - max.div_ceil(4)).max(1));
        Self { pool, writers, timeout, ready, announcer, metrics }
    }

    /// Applies the configured timeout. After a loss of the database, the limit is [`GRACE`]: a dead connection never responds.
    pub(super) async fn with_timeout<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        select! {
            outcome = operation => outcome,
            () = time::sleep(self.timeout) => Err(unavailable("no response in time")),
            () = self.announcer.loss().then(|()| time::sleep(GRACE)) => Err(unavailable("the database was lost")),
        }
    }

    /// Like [`with_timeout`](Self::with_timeout), but repeats attempts that fail on a lock, for up to
    /// [`max_lock_wait`](Self::max_lock_wait). Such an attempt has written nothing. Between attempts the operation holds no
    /// connection, so that other operations can use it.
    pub(super) async fn retry_locked<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let since = Instant::now();
        let retries = async {
            let mut pause = PAUSE;
            loop {
                match attempt().await {
                    Err(error) if is_contention(&error) && since.elapsed() < self.max_lock_wait() => {
                        self.metrics.count_retry(1);
                        time::sleep(pause).await;
                        pause = MAX_PAUSE.min(pause * 2);
                    }
                    outcome => return outcome,
                }
            }
        };
        self.with_timeout(retries).await
    }

    /// While the database is lost, limits an operation to [`LOST_TIMEOUT`] in total, because many callers may wait for it.
    pub(super) async fn fail_fast<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if !self.announcer.database_is_lost() {
            return operation.await;
        }
        time::timeout(LOST_TIMEOUT, operation).await.map_err(|_| unavailable(IS_LOST))?
    }

    pub(super) fn max_lock_wait(&self) -> Duration {
        MAX_LOCK_WAIT.min(self.timeout / LOCK_WAIT_DIVISOR)
    }

    pub(super) async fn reader(&self) -> Result<Link, StoreError> {
        self.connection(None).await
    }

    pub(super) async fn writer(&self) -> Result<Link, StoreError> {
        self.connection(Some(&self.writers)).await
    }

    /// Returns a free connection, with a permit if there is a semaphore. Waits less while the database is lost.
    async fn connection(&self, semaphore: Option<&FairSemaphore>) -> Result<Link, StoreError> {
        self.ready()?;
        let acquire = async {
            let permit = match semaphore {
                Some(semaphore) => Some(semaphore.acquire().await?),
                None => None,
            };
            Ok(Link::new(self.pool.acquire().await?, permit))
        };
        // While the database is lost, wait only briefly for an open connection that still works, or for a new one.
        let (timeout, reason) = if self.announcer.database_is_lost() {
            (LOST_TIMEOUT.min(self.pool.acquire_timeout()), IS_LOST)
        } else {
            (self.pool.acquire_timeout(), "no connection to the database was free in time")
        };
        let acquired: Result<Link, sqlx::Error> =
            time::timeout(timeout, acquire).await.map_err(|_| unavailable(reason))?;
        acquired.map_err(|error| unavailable(DatabaseError(error)))
    }

    /// Opens a connection outside the pool, without a statement timeout.
    pub(super) async fn connect(&self, name: &str) -> Result<PgConnection, StoreError> {
        self.ready()?;
        Ok(self.pool.connect(name).await?)
    }

    pub(super) async fn read<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let statement = Statement::new(query)?;
        self.retry_locked(|| self.fetch(statement.query())).await
    }

    /// Runs one query of a larger operation. The caller applies the timeout and the retries.
    pub(super) async fn fetch<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let mut link = self.reader().await?;
        let outcome = query.fetch_all(&mut *link).await;
        link.finish(outcome)
    }

    pub(super) async fn write<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let statement = Statement::new(query)?;
        let attempt = || async {
            let mut link = self.writer().await?;
            let outcome = statement.query().fetch_all(&mut *link).await.map_err(StoreError::from);
            self.announce_write(&outcome);
            link.finish(outcome)
        };
        self.retry_locked(attempt).await
    }

    /// Writes data that has no revision, so it does not notify other instances.
    pub(super) async fn write_untracked<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let statement = Statement::new(query)?;
        let attempt = || async {
            let mut link = self.writer().await?;
            let outcome = statement.query().fetch_all(&mut *link).await;
            link.finish(outcome)
        };
        self.retry_locked(attempt).await
    }

    /// Notifies the other instances of a write, unless a lock prevented it. After other errors, the write may have succeeded.
    pub(super) fn announce_write<T>(&self, outcome: &Result<T, StoreError>) {
        if !outcome.as_ref().is_err_and(is_contention) {
            self.announcer.announce();
        }
    }

    pub(super) fn usage(&self) -> PoolUsage {
        let usage = self.pool.usage();
        PoolUsage { waiting: usage.waiting + self.writers.waiting(), ..usage }
    }

    pub(super) async fn close(&self) {
        self.pool.close().await;
    }

    fn ready(&self) -> Result<(), StoreError> {
        if *self.ready.borrow() { Ok(()) } else { Err(unavailable("the database has not been reached yet")) }
    }
}
