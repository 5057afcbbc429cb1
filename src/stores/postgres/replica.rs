use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rocket::tokio::time;

use super::link::Link;
use super::pool::PostgresPool;

/// A replica, and how far it must have come for its answers to hold what this instance has written.
///
/// Positions are those of the write-ahead log.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) pool: PostgresPool,
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

/// How long a call waits for a connection to a replica.
const SHORT: Duration = Duration::from_millis(250);
/// For how long a replica that was lost is not asked again.
const REST: Duration = Duration::from_secs(1);

impl Replica {
    pub(super) fn new(pool: PostgresPool) -> Self {
        Self {
            pool,
            written: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            found: AtomicU64::new(0),
            replayed: AtomicU64::new(0),
            made: AtomicU64::new(0),
            away: Mutex::new(None),
        }
    }

    /// Notes that something was written by `primary`.
    pub(super) async fn wrote(&self, primary: &mut Link) {
        match written_position(primary).await {
            Ok(position) => drop(self.written.fetch_max(position, Ordering::SeqCst)),
            // What was written stands, whether its position is known or not.
            Err(_) => drop(self.unknown.fetch_add(1, Ordering::SeqCst)),
        }
    }

    /// A connection to the replica, if that is there and has what this instance has written.
    pub(super) async fn link(&self) -> Option<Link> {
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
    pub(super) async fn find_positions(&self, primary: &mut Link) {
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

    /// Has the replica not be asked for a while, after it was lost.
    pub(super) fn rest(&self, error: &(dyn Error + 'static)) {
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
