use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time;

use super::changes::Announcer;
use super::link::Link;
use super::pool::PostgresPool;

/// A replica, and how far it must have come for its responses to hold what this instance has written.
///
/// After each loss of the primary, and at the start, it must follow the primary's timeline: another server may have become the
/// primary, whose log is not the one that the replica has.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) pool: PostgresPool,
    announcer: Announcer,
    progress: Mutex<Progress>,
    /// Since when it has not been asked, since it gave no connection.
    away: Mutex<Option<Instant>>,
}

/// How far primary and replica are known to have come.
#[derive(Debug, Default)]
struct Progress {
    written: Position,
    /// How many writes there were whose position could not be found.
    unknown: u64,
    /// The doubts that `written` is beyond.
    settled: Doubts,
    replayed: Position,
    /// How many connections had been made when `replayed` was asked for.
    made: u64,
}

/// How often it became unknown what the replica must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Doubts {
    /// At the start, and with each loss of the primary.
    primaries: u64,
    /// With each write whose position could not be found.
    writes: u64,
}

impl Progress {
    /// Settles doubts by where a primary is that was connected to after they arose.
    fn settle(&mut self, doubts: Doubts, primary: Position) {
        if doubts.writes > self.settled.writes {
            self.written = self.written.max(primary);
        }
        // A place up to that where the timeline begins is the same on both. One beyond it is only more than needed.
        self.written.timeline = self.written.timeline.max(primary.timeline);
        self.settled.primaries = self.settled.primaries.max(doubts.primaries);
        self.settled.writes = self.settled.writes.max(doubts.writes);
    }
}

/// A position in the write-ahead log. Each promotion of a standby begins a timeline, which leaves the one before at some place:
/// what that has beyond is not in the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    timeline: i32,
    place: i64,
}

/// Where a primary is.
const WRITTEN: &str = "
    SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int,
           (pg_current_wal_insert_lsn() - '0/0')::bigint";
/// Where a replica is, perhaps on a later timeline: the first two learn of it at a checkpoint, the third at once, but only a
/// role with the rights of `pg_read_all_stats` sees it.
const REPLAYED: &str = "
    SELECT greatest((SELECT timeline_id FROM pg_control_checkpoint()),
                    (SELECT min_recovery_end_timeline FROM pg_control_recovery()),
                    (SELECT received_tli FROM pg_stat_wal_receiver)),
           (pg_last_wal_replay_lsn() - '0/0')::bigint";
/// How long a call waits for a connection to a replica.
const SHORT: Duration = Duration::from_millis(250);
/// For how long a replica that was lost is not asked again.
const REST: Duration = Duration::from_secs(1);

impl Replica {
    pub(super) fn new(pool: PostgresPool, announcer: Announcer) -> Self {
        Self { pool, announcer, progress: Mutex::default(), away: Mutex::new(None) }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that something was written by `primary`.
    pub(super) async fn wrote(&self, primary: &mut Link) {
        let written = written(primary).await;
        let mut progress = self.progress();
        match written {
            Ok(position) => progress.written = progress.written.max(position),
            // What was written stands, whether its position is known or not.
            Err(_) => progress.unknown += 1,
        }
    }

    /// A connection to the replica, if that is there and has what this instance has written.
    pub(super) async fn link(&self) -> Option<Link> {
        if self.doubts().is_some() || self.rests() {
            return None;
        }
        let written = self.progress().written;
        match time::timeout(SHORT, self.link_at(written)).await {
            Ok(Ok(link)) => return link,
            Ok(Err(error)) => self.rest(&error),
            Err(elapsed) => self.rest(&elapsed),
        }
        None
    }

    async fn link_at(&self, written: Position) -> Result<Option<Link>, sqlx::Error> {
        let mut link = Link::to_replica(self.pool.acquire().await?);
        if self.has_replayed(written) {
            return Ok(Some(link));
        }
        let replayed = position(&mut link, REPLAYED).await?;
        let mut progress = self.progress();
        progress.replayed = progress.replayed.max(replayed);
        drop(progress);
        if replayed < written {
            link.give_back();
            return Ok(None);
        }
        Ok(Some(link))
    }

    /// Whether the replica is known to have replayed what was written.
    fn has_replayed(&self, written: Position) -> bool {
        let made = self.pool.made();
        let mut progress = self.progress();
        // The server that responds now may be another one, or the same one in its state before a crash.
        if progress.made != made {
            progress.made = made;
            progress.replayed = Position::default();
        }
        progress.replayed >= written
    }

    /// The doubts there are, if they are not settled.
    pub(super) fn doubts(&self) -> Option<Doubts> {
        let progress = self.progress();
        let doubts = Doubts { primaries: 1 + self.announcer.losses(), writes: progress.unknown };
        (progress.settled != doubts).then_some(doubts)
    }

    /// Settles doubts by a connection to the primary that was made, or found to be there, after they arose.
    pub(super) async fn settle(&self, primary: &mut Link, doubts: Doubts) {
        // Where the position cannot be found, the primary is read on, which finds it another time.
        if let Ok(position) = written(primary).await {
            self.progress().settle(doubts, position);
        }
    }

    /// How many bytes of the log the replica is behind where the primary has `written`; `None` if it does not respond or
    /// follows another timeline.
    pub(super) async fn lag(&self, written: Position) -> Option<u64> {
        if self.rests() {
            return None;
        }
        let asking = async {
            let mut link = Link::to_replica(self.pool.acquire().await.ok()?);
            let replayed = position(&mut link, REPLAYED).await.ok()?;
            link.give_back();
            Some(replayed)
        };
        let replayed = time::timeout(SHORT, asking).await.ok()??;
        let behind = u64::try_from(written.place - replayed.place).unwrap_or(0);
        (written.timeline == replayed.timeline).then_some(behind)
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

/// Where a primary is.
pub(super) async fn written(primary: &mut Link) -> Result<Position, sqlx::Error> {
    position(primary, WRITTEN).await
}

async fn position(link: &mut Link, sql: &'static str) -> Result<Position, sqlx::Error> {
    let (timeline, place): (Option<i32>, Option<i64>) = sqlx::query_as(sql).fetch_one(&mut **link).await?;
    Ok(Position { timeline: timeline.unwrap_or(0), place: place.unwrap_or(0) })
}
