use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rocket::futures::FutureExt;
use rocket::tokio::sync::watch;
use rocket::tokio::{select, time};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::QueryAs;
use sqlx::{FromRow, Postgres};

use super::changes::Announcer;
use super::error::unavailable;
use super::link::Link;
use super::pool::{PoolUse, PostgresPool};
use crate::stores::StoreError;

/// Where calls get their connections from: the primary, or for reads a replica that is not behind.
#[derive(Debug)]
pub(super) struct Connections {
    primary: PostgresPool,
    replica: Option<Replica>,
    timeout: Duration,
    /// Whether the schema is known to be right.
    ready: watch::Receiver<bool>,
    announcer: Announcer,
}

/// A statement and its values.
pub(super) type Query<T> = QueryAs<'static, Postgres, T, PgArguments>;

/// A row of an answer.
pub(super) trait Row: for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T: for<'r> FromRow<'r, PgRow> + Send + Unpin> Row for T {}

/// A replica, and how far it must have come for its answers to hold what this instance has written.
///
/// Positions are those of the write-ahead log.
#[derive(Debug)]
struct Replica {
    pool: PostgresPool,
    written: AtomicU64,
    /// How many writes there were whose position could not be found, and how many of them are before `written`.
    unknown: AtomicU64,
    found: AtomicU64,
    replayed: AtomicU64,
    /// How many connections had been made when `replayed` was asked for.
    made: AtomicU64,
    /// Since when it has not been asked, since it gave no connection.
    away: Mutex<Option<Instant>>,
}

/// How long a call waits for a connection to the primary while that is lost: long enough to make one as soon as it is
/// back, on a machine that is busy with that.
const LOST: Duration = Duration::from_secs(1);
/// How long a call waits for a connection to a replica.
const SHORT: Duration = Duration::from_millis(250);
/// For how long a replica that was lost is not asked again, and a call goes on after the primary was.
const REST: Duration = Duration::from_secs(1);

impl Connections {
    pub(super) fn new(
        primary: PostgresPool,
        replica: Option<PostgresPool>,
        timeout: Duration,
        ready: watch::Receiver<bool>,
        announcer: Announcer,
    ) -> Self {
        let replica = replica.map(|pool| Replica {
            pool,
            written: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            found: AtomicU64::new(0),
            replayed: AtomicU64::new(0),
            made: AtomicU64::new(0),
            away: Mutex::new(None),
        });
        Self { primary, replica, timeout, ready, announcer }
    }

    /// Does something within the time a call may take, and not for long after the database was lost meanwhile: what was
    /// asked of a link that leads nowhere is answered by nobody.
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

    /// A connection that sees every change this instance has made.
    pub(super) async fn reader(&self) -> Result<Link, StoreError> {
        self.ready()?;
        let Some(replica) = &self.replica else { return self.writer().await };
        if let Some(link) = replica.link().await {
            return Ok(link);
        }
        let mut link = self.writer().await?;
        replica.find_positions(&mut link).await;
        Ok(link)
    }

    /// A connection to the primary.
    pub(super) async fn writer(&self) -> Result<Link, StoreError> {
        self.ready()?;
        let acquiring = self.primary.acquire();
        if !self.announcer.database_is_lost() {
            return Ok(Link::to_primary(acquiring.await.map_err(unavailable)?));
        }
        // Whoever comes now gets one of those that are left, or the first of those that come back, and is not kept.
        let acquired = time::timeout(LOST, acquiring).await;
        let acquired = acquired.map_err(|_| unavailable("the database is lost"))?;
        Ok(Link::to_primary(acquired.map_err(unavailable)?))
    }

    /// Reads by one statement, which sees every change this instance has made.
    pub(super) async fn read<T: Row>(&self, query: impl Fn() -> Query<T>) -> Result<Vec<T>, StoreError> {
        let reading = async {
            loop {
                let link = self.reader().await?;
                if let Some(rows) = self.ask(link, query()).await? {
                    return Ok(rows);
                }
            }
        };
        self.within(reading).await
    }

    /// Reads by one statement what the primary has.
    pub(super) async fn read_primary<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        self.within(self.ask_primary(query)).await
    }

    /// The same as a part of a call, which bounds it.
    pub(super) async fn ask_primary<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let link = self.writer().await?;
        Ok(self.ask(link, query).await?.unwrap_or_default())
    }

    /// The rows of an answer; `None` when a replica was lost by it, and another is to be asked.
    async fn ask<T: Row>(&self, mut link: Link, query: Query<T>) -> Result<Option<Vec<T>>, StoreError> {
        let is_replica = link.is_replica();
        let asking = async {
            let outcome = query.fetch_all(&mut *link).await;
            link.end(outcome)
        };
        self.unless_lost(is_replica, asking).await
    }

    /// What comes of asking; `None` when that was a replica, and it was lost.
    pub(super) async fn unless_lost<T>(
        &self,
        is_replica: bool,
        asking: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<Option<T>, StoreError> {
        let Some(replica) = self.replica.as_ref().filter(|_| is_replica) else {
            return asking.await.map(Some);
        };
        // As much time is left for the primary.
        match time::timeout(self.timeout / 2, asking).await {
            Ok(Err(StoreError::Unavailable { source, .. })) => replica.rest(&*source),
            Ok(outcome) => return outcome.map(Some),
            Err(elapsed) => replica.rest(&elapsed),
        }
        Ok(None)
    }

    /// Writes by one statement.
    pub(super) async fn write<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        let writing = async {
            let mut link = self.writer().await?;
            let outcome = query.fetch_all(&mut *link).await;
            self.wrote(&mut link).await;
            link.end(outcome)
        };
        self.within(writing).await
    }

    /// Writes by one statement what is read from the primary alone, and no revision counts: replicas may be behind it, and
    /// the other instances are not told.
    pub(super) async fn write_unseen<T: Row>(&self, query: Query<T>) -> Result<Vec<T>, StoreError> {
        self.read_primary(query).await
    }

    /// Notes that something was written by `link`: from now on no replica is read that has not got it, and the other
    /// instances are told.
    pub(super) async fn wrote(&self, link: &mut Link) {
        self.announcer.announce();
        if let Some(replica) = &self.replica {
            match written_position(link).await {
                Ok(position) => drop(replica.written.fetch_max(position, Ordering::SeqCst)),
                // What was written stands, whether its position is known or not.
                Err(_) => drop(replica.unknown.fetch_add(1, Ordering::SeqCst)),
            }
        }
    }

    /// How many connections are in use.
    pub(super) fn pools(&self) -> Vec<PoolUse> {
        let replica = self.replica.as_ref().map(|replica| replica.pool.used("replica"));
        [self.primary.used("primary")].into_iter().chain(replica).collect()
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

impl Replica {
    /// A connection to the replica, if that is there and has what this instance has written.
    async fn link(&self) -> Option<Link> {
        if self.unknown.load(Ordering::SeqCst) > self.found.load(Ordering::SeqCst) || self.rests() {
            return None;
        }
        let written = self.written.load(Ordering::SeqCst);
        match time::timeout(SHORT, self.link_at(written)).await {
            Ok(Ok(link)) => return link,
            Ok(Err(error)) => self.rest(&error),
            Err(elapsed) => self.rest(&elapsed),
        }
        None
    }

    async fn link_at(&self, written: u64) -> Result<Option<Link>, sqlx::Error> {
        let mut link = Link::to_replica(self.pool.acquire().await?);
        // Whoever answers now may be another, or the same as it was before a crash.
        let made = self.pool.made();
        if self.made.swap(made, Ordering::SeqCst) != made {
            self.replayed.store(0, Ordering::SeqCst);
        }
        if self.replayed.load(Ordering::SeqCst) < written {
            let replayed = position(&mut link, "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint").await?;
            self.replayed.fetch_max(replayed, Ordering::SeqCst);
            if replayed < written {
                link.give_back();
                return Ok(None);
            }
        }
        Ok(Some(link))
    }

    /// Notes how far the primary has come, which is beyond all writes until now, if the position of one is not known.
    async fn find_positions(&self, primary: &mut Link) {
        let unknown = self.unknown.load(Ordering::SeqCst);
        // Where it cannot be found, the primary is read on, which finds it another time.
        if unknown > self.found.load(Ordering::SeqCst)
            && let Ok(position) = written_position(primary).await
        {
            self.written.fetch_max(position, Ordering::SeqCst);
            self.found.fetch_max(unknown, Ordering::SeqCst);
        }
    }

    fn rests(&self) -> bool {
        self.away.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|since| since.elapsed() < REST)
    }

    fn rest(&self, error: &(dyn Error + 'static)) {
        tracing::warn!(error, "the replica is lost");
        self.pool.distrust();
        *self.away.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

/// The position of all that has been written to the primary until now.
async fn written_position(primary: &mut Link) -> Result<u64, sqlx::Error> {
    position(primary, "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").await
}

async fn position(link: &mut Link, sql: &'static str) -> Result<u64, sqlx::Error> {
    let position: Option<i64> = sqlx::query_scalar(sql).fetch_one(&mut **link).await?;
    Ok(position.map_or(0, i64::cast_unsigned))
}
