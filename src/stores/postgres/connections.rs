use std::time::{Duration, Instant};

use futures::FutureExt;
use sqlx::PgConnection;
use tokio::sync::watch;
use tokio::{select, time};

use super::error::{DatabaseError, is_contention, unavailable};
use super::link::Link;
use super::listener::Announcer;
use super::pool::{PoolUse, PostgresPool};
use super::replica::{Replica, written};
use super::statement::{Query, Row, Statement};
use super::turns::Turns;
use crate::stores::StoreError;
use crate::telemetry::Metrics;

/// The connections for calls: to the primary, or for reads to a replica that is not behind.
#[derive(Debug)]
pub(super) struct Connections {
    primary: PostgresPool,
    replica: Option<Replica>,
    /// The turns of calls that write. There are fewer turns than connections.
    writers: Turns,
    timeout: Duration,
    /// Whether the schema is known to be right.
    ready: watch::Receiver<bool>,
    announcer: Announcer,
    pub(super) metrics: Metrics,
}

/// How long a call waits for a connection to the primary while that is lost: long enough to connect as soon as it is
/// back, even if many calls connect then.
const LOST: Duration = Duration::from_secs(1);
const IS_LOST: &str = "the database is lost";
/// How long a call goes on after the primary was lost.
const REST: Duration = Duration::from_secs(1);
/// How long a call tries to get past the locks of other sessions: at most this long, and at most this part of its time
/// (1/4).
const LOCKED: Duration = Duration::from_secs(3);
const LOCKED_PART: u32 = 4;
/// How long a call that met a lock waits before it tries again: the first time, and at most. It holds no connection
/// meanwhile.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(400);

impl Connections {
    pub(super) fn new(
        primary: PostgresPool,
        replica: Option<PostgresPool>,
        timeout: Duration,
        ready: watch::Receiver<bool>,
        announcer: Announcer,
        metrics: Metrics,
    ) -> Self {
        let replica = replica.map(|pool| Replica::new(pool, announcer.clone()));
        // Some connections are always left for calls that only read: a quarter of all, if there is more than one.
        let most = primary.most();
        let writers = Turns::new("writing calls", (most - most.div_ceil(4)).max(1));
        Self { primary, replica, writers, timeout, ready, announcer, metrics }
    }

    /// Runs a call within the time that a call may take. If the database is lost meanwhile, the call ends soon after,
    /// because no response comes over a dead link.
    pub(super) async fn within<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        select! {
            outcome = call => outcome,
            () = time::sleep(self.timeout) => Err(unavailable("no answer in time")),
            () = self.announcer.loss().then(|()| time::sleep(REST)) => Err(unavailable("the database was lost")),
        }
    }

    /// Does the same for a call that may meet locks of other sessions. A lock leaves the call undone, so it is tried
    /// again for [`lock_patience`](Self::lock_patience).
    ///
    /// A statement waits for a lock only for a moment ([`PostgresPool`]), and the call holds no connection between two
    /// tries. So calls that wait for a lock leave the connections to calls that do not.
    pub(super) async fn trying<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let since = Instant::now();
        let trying = async {
            let mut pause = PAUSE;
            loop {
                match attempt().await {
                    Err(error) if is_contention(&error) && since.elapsed() < self.lock_patience() => {
                        self.metrics.calls_retried(1);
                        time::sleep(pause).await;
                        pause = LONGEST_PAUSE.min(pause * 2);
                    }
                    outcome => return outcome,
                }
            }
        };
        self.within(trying).await
    }

    /// Runs a call that many wait for: while the database is lost, for [`LOST`] altogether, however long it waits for the
    /// calls of others.
    pub(super) async fn soon<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if !self.announcer.database_is_lost() {
            return call.await;
        }
        time::timeout(LOST, call).await.map_err(|_| unavailable(IS_LOST))?
    }

    /// Returns how long a call tries to get past the locks of other sessions.
    pub(super) fn lock_patience(&self) -> Duration {
        LOCKED.min(self.timeout / LOCKED_PART)
    }

    /// Returns a connection that sees every change this instance has made.
    async fn reader(&self) -> Result<Link, StoreError> {
        self.ready()?;
        let Some(replica) = &self.replica else { return self.primary().await };
        if let Some(link) = replica.link().await {
            return Ok(link);
        }
        let doubts = replica.doubts();
        let mut link = self.primary().await?;
        if let Some(doubts) = doubts {
            replica.settle(&mut link, doubts).await;
        }
        Ok(link)
    }

    /// Returns a connection to the primary, to read from it.
    pub(super) async fn primary(&self) -> Result<Link, StoreError> {
        self.connection(None).await
    }

    /// Returns a connection to the primary, to write to it. Calls that write leave some connections to calls that read.
    pub(super) async fn writer(&self) -> Result<Link, StoreError> {
        self.connection(Some(&self.writers)).await
    }

    async fn connection(&self, turns: Option<&Turns>) -> Result<Link, StoreError> {
        self.ready()?;
        let acquiring = async {
            let turn = match turns {
                Some(turns) => Some(turns.take().await?),
                None => None,
            };
            Ok(Link::to_primary(self.primary.acquire().await?, turn))
        };
        // While the database is lost, a call gets one of the remaining connections, or the first that comes back. It
        // does not wait for long.
        let (patience, reason) = if self.announcer.database_is_lost() {
            (LOST.min(self.primary.patience()), IS_LOST)
        } else {
            (self.primary.patience(), "no connection to the database was free in time")
        };
        let acquired: Result<Link, sqlx::Error> =
            time::timeout(patience, acquiring).await.map_err(|_| unavailable(reason))?;
        acquired.map_err(|error| unavailable(DatabaseError(error)))
    }

    /// Opens a connection to the primary outside the pool, with this name. Its statements have no time limit.
    pub(super) async fn connect(&self, name: &str) -> Result<PgConnection, StoreError> {
        self.ready()?;
        Ok(self.primary.connect(name).await?)
    }

    /// Reads with one statement, which sees every change this instance has made.
    pub(super) async fn read<T: Row>(&self, query: impl Fn() -> Query<T>) -> Result<Vec<T>, StoreError> {
        let (rows, _) = self.trying(|| self.ask_any(&query)).await?;
        Ok(rows)
    }

    /// Does the same as a part of a call, which limits its time. Also returns whether a replica responded.
    pub(super) async fn ask_any<T: Row>(
        &self,
        query: &impl Fn() -> Query<T>,
    ) -> Result<(Vec<T>, bool), StoreError> {
        loop {
            let link = self.reader().await?;
            let is_replica = link.is_replica();
            if let Some(rows) = self.ask(link, query()).await? {
                return Ok((rows, is_replica));
            }
        }
    }

    /// Reads from the primary with one statement.
    pub(super) async fn read_primary<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let statement = Statement::of(query)?;
        self.trying(|| self.ask_primary(statement.query())).await
    }

    /// Does the same as a part of a call, which limits its time.
    pub(super) async fn ask_primary<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let link = self.primary().await?;
        Ok(self.ask(link, query).await?.unwrap_or_default())
    }

    /// Returns the rows of a query; `None` if it lost a replica, and another connection must be tried.
    async fn ask<T: Row>(&self, mut link: Link, query: Query<T>) -> Result<Option<Vec<T>>, StoreError> {
        let is_replica = link.is_replica();
        let asking = async {
            let outcome = query.fetch_all(&mut *link).await;
            link.end(outcome)
        };
        self.unless_lost(is_replica, asking).await
    }

    /// Returns the result of a query; `None` if it was sent to a replica and the replica was lost.
    async fn unless_lost<T>(
        &self,
        is_replica: bool,
        asking: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<Option<T>, StoreError> {
        let Some(replica) = self.replica.as_ref().filter(|_| is_replica) else {
            return asking.await.map(Some);
        };
        // The other half of the time is left for the primary.
        match time::timeout(self.timeout / 2, asking).await {
            Ok(Err(StoreError::Unavailable { source, .. })) => replica.rest(&*source),
            Ok(outcome) => return outcome.map(Some),
            Err(elapsed) => replica.rest(&elapsed),
        }
        Ok(None)
    }

    /// Writes with one statement.
    pub(super) async fn write<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let statement = Statement::of(query)?;
        let writing = || async {
            let mut link = self.writer().await?;
            let outcome = statement.query().fetch_all(&mut *link).await.map_err(StoreError::from);
            self.wrote(&mut link, &outcome).await;
            link.end(outcome)
        };
        self.trying(writing).await
    }

    /// Writes with one statement what is only read from the primary and counted by no revision. Replicas may lag behind
    /// the write, and the other instances are not notified.
    pub(super) async fn write_unseen<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let statement = Statement::of(query)?;
        let writing = || async {
            let mut link = self.writer().await?;
            let outcome = statement.query().fetch_all(&mut *link).await;
            link.end(outcome)
        };
        self.trying(writing).await
    }

    /// Records a write over `link`. From now on, replicas that do not have it are not read, and the other instances are
    /// notified. Does nothing if a lock prevented the write.
    pub(super) async fn wrote<T>(&self, link: &mut Link, outcome: &Result<T, StoreError>) {
        if outcome.as_ref().is_err_and(is_contention) {
            return;
        }
        self.announcer.announce();
        if let Some(replica) = &self.replica {
            replica.wrote(link).await;
        }
    }

    /// Returns how many connections are in use, and how many calls wait for one.
    pub(super) fn pools(&self) -> Vec<PoolUse> {
        let mut primary = self.primary.used("primary");
        primary.waiting += self.writers.waiting();
        let replica = self.replica.as_ref().map(|replica| replica.pool.used("replica"));
        [primary].into_iter().chain(replica).collect()
    }

    /// Reports to the metrics how far the replica is behind, if there is one.
    pub(super) async fn measure_replica(&self) {
        let Some(replica) = &self.replica else { return };
        let asking = async {
            let mut link = self.primary().await?;
            let outcome = written(&mut link).await;
            Ok(replica.lag(link.end(outcome)?).await)
        };
        self.metrics.replica_lag(self.within(asking).await.ok().flatten());
    }

    /// Closes the connections.
    pub(super) async fn close(&self) {
        self.primary.end().await;
        if let Some(replica) = &self.replica {
            replica.pool.end().await;
        }
    }

    fn ready(&self) -> Result<(), StoreError> {
        if *self.ready.borrow() { Ok(()) } else { Err(unavailable("the database has not been reached yet")) }
    }
}
