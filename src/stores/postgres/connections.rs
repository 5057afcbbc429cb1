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

/// The connections for calls.
#[derive(Debug)]
pub(super) struct Connections {
    pool: PostgresPool,
    /// The turns of calls that write. There are fewer turns than connections.
    writers: FairSemaphore,
    timeout: Duration,
    /// Whether the schema is known to be right.
    ready: watch::Receiver<bool>,
    announcer: Announcer,
    pub(super) metrics: Metrics,
}

/// How long a call waits for a connection while the database is lost: long enough to connect as soon as it is
/// back, even if many calls connect then.
const LOST_TIMEOUT: Duration = Duration::from_secs(1);
const IS_LOST: &str = "the database is lost";
/// How long a call goes on after the database was lost.
const GRACE: Duration = Duration::from_secs(1);
/// How long a call tries to get past the locks of other sessions: at most this long, and at most this part of its time
/// (1/4).
const MAX_LOCK_WAIT: Duration = Duration::from_secs(3);
const LOCK_WAIT_DIVISOR: u32 = 4;
/// How long a call that met a lock waits before it tries again: the first time, and at most. It holds no connection
/// meanwhile.
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
        // Some connections are always left for calls that only read: a quarter of all, if there is more than one.
        let max = pool.max_connections();
        let writers = FairSemaphore::new("writing calls", (max - max.div_ceil(4)).max(1));
        Self { pool, writers, timeout, ready, announcer, metrics }
    }

    /// Runs a call within the time that a call may take. If the database is lost meanwhile, the call ends soon after,
    /// because no response comes over a dead link.
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

    /// Does the same for a call that may meet locks of other sessions. A lock leaves the call undone, so it is tried
    /// again for [`max_lock_wait`](Self::max_lock_wait).
    ///
    /// A statement waits for a lock only for a moment ([`PostgresPool`]), and the call holds no connection between two
    /// tries. So calls that wait for a lock leave the connections to calls that do not.
    pub(super) async fn retry_locked<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let since = Instant::now();
        let retrying = async {
            let mut pause = PAUSE;
            loop {
                match attempt().await {
                    Err(error) if is_contention(&error) && since.elapsed() < self.max_lock_wait() => {
                        self.metrics.calls_retried(1);
                        time::sleep(pause).await;
                        pause = MAX_PAUSE.min(pause * 2);
                    }
                    outcome => return outcome,
                }
            }
        };
        self.with_timeout(retrying).await
    }

    /// Runs a call that many wait for: while the database is lost, for [`LOST_TIMEOUT`] altogether, however long it waits for the
    /// calls of others.
    pub(super) async fn fail_fast<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if !self.announcer.database_is_lost() {
            return operation.await;
        }
        time::timeout(LOST_TIMEOUT, operation).await.map_err(|_| unavailable(IS_LOST))?
    }

    /// Returns how long a call tries to get past the locks of other sessions.
    pub(super) fn max_lock_wait(&self) -> Duration {
        MAX_LOCK_WAIT.min(self.timeout / LOCK_WAIT_DIVISOR)
    }

    /// Returns a connection for a call that reads.
    pub(super) async fn reader(&self) -> Result<Link, StoreError> {
        self.connection(None).await
    }

    /// Returns a connection for a call that writes. Calls that write leave some connections to calls that read.
    pub(super) async fn writer(&self) -> Result<Link, StoreError> {
        self.connection(Some(&self.writers)).await
    }

    async fn connection(&self, semaphore: Option<&FairSemaphore>) -> Result<Link, StoreError> {
        self.ready()?;
        let acquiring = async {
            let permit = match semaphore {
                Some(semaphore) => Some(semaphore.acquire().await?),
                None => None,
            };
            Ok(Link::new(self.pool.acquire().await?, permit))
        };
        // While the database is lost, a call gets one of the remaining connections, or the first that comes back. It
        // does not wait for long.
        let (timeout, reason) = if self.announcer.database_is_lost() {
            (LOST_TIMEOUT.min(self.pool.acquire_timeout()), IS_LOST)
        } else {
            (self.pool.acquire_timeout(), "no connection to the database was free in time")
        };
        let acquired: Result<Link, sqlx::Error> =
            time::timeout(timeout, acquiring).await.map_err(|_| unavailable(reason))?;
        acquired.map_err(|error| unavailable(DatabaseError(error)))
    }

    /// Opens a connection outside the pool, with this name. Its statements have no time limit.
    pub(super) async fn connect(&self, name: &str) -> Result<PgConnection, StoreError> {
        self.ready()?;
        Ok(self.pool.connect(name).await?)
    }

    /// Reads with one statement.
    pub(super) async fn read<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let statement = Statement::new(query)?;
        self.retry_locked(|| self.fetch(statement.query())).await
    }

    /// Does the same as a part of a call, which limits its time.
    pub(super) async fn fetch<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let mut link = self.reader().await?;
        let outcome = query.fetch_all(&mut *link).await;
        link.finish(outcome)
    }

    /// Writes with one statement.
    pub(super) async fn write<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let statement = Statement::new(query)?;
        let writing = || async {
            let mut link = self.writer().await?;
            let outcome = statement.query().fetch_all(&mut *link).await.map_err(StoreError::from);
            self.announce_write(&outcome);
            link.finish(outcome)
        };
        self.retry_locked(writing).await
    }

    /// Writes with one statement what no revision counts: the other instances are not notified.
    pub(super) async fn write_untracked<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let statement = Statement::new(query)?;
        let writing = || async {
            let mut link = self.writer().await?;
            let outcome = statement.query().fetch_all(&mut *link).await;
            link.finish(outcome)
        };
        self.retry_locked(writing).await
    }

    /// Notifies the other instances of a write. Does nothing if a lock prevented it.
    pub(super) fn announce_write<T>(&self, outcome: &Result<T, StoreError>) {
        if !outcome.as_ref().is_err_and(is_contention) {
            self.announcer.announce();
        }
    }

    /// Returns how many connections are in use, and how many calls wait for one.
    pub(super) fn usage(&self) -> PoolUsage {
        let usage = self.pool.usage();
        PoolUsage { waiting: usage.waiting + self.writers.waiting(), ..usage }
    }

    /// Closes the connections.
    pub(super) async fn close(&self) {
        self.pool.close().await;
    }

    fn ready(&self) -> Result<(), StoreError> {
        if *self.ready.borrow() { Ok(()) } else { Err(unavailable("the database has not been reached yet")) }
    }
}
