use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time;

use super::link::Link;
use super::listener::Announcer;
use super::pool::PostgresPool;

/// A replica, and how far it must have come for its responses to include what this instance has written.
///
/// At startup, and after each loss of the primary, the replica must follow the primary's timeline: another server may
/// have become the primary, and its log may differ from the log that the replica has.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) pool: PostgresPool,
    announcer: Announcer,
    progress: Mutex<Progress>,
    /// When it last gave no connection. It is not used for a while after that.
    away: Mutex<Option<Instant>>,
}

/// How far the primary and the replica are known to have come.
#[derive(Debug, Default)]
struct Progress {
    written: Position,
    /// How many writes have a position that could not be found.
    unknown: u64,
    /// The doubts that are settled: `written` takes them into account.
    settled: Doubts,
    replayed: Position,
    /// How many connections had been made when `replayed` was read.
    made: u64,
}

/// How often it became unknown how far the replica must have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Doubts {
    /// At startup, and with each loss of the primary.
    primaries: u64,
    /// With each write whose position could not be found.
    writes: u64,
}

impl Progress {
    /// Settles doubts with the position of a primary that was connected to after they arose.
    fn settle(&mut self, doubts: Doubts, primary: Position) {
        if doubts.writes > self.settled.writes {
            self.written = self.written.max(primary);
        }
        // Up to the place where a timeline begins, it equals the timeline before it. If `written` lies beyond that
        // place, the replica is only required to come further than needed.
        self.written.timeline = self.written.timeline.max(primary.timeline);
        self.settled.primaries = self.settled.primaries.max(doubts.primaries);
        self.settled.writes = self.settled.writes.max(doubts.writes);
    }
}

/// A position in the write-ahead log. Each promotion of a standby begins a new timeline, which branches off at some
/// place of the previous one: what the previous timeline has beyond that place is not in the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    timeline: i32,
    place: i64,
}

/// Returns the position of a primary.
const WRITTEN: &str = "
    SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int,
           (pg_current_wal_insert_lsn() - '0/0')::bigint";
/// Returns the position of a replica, perhaps on a later timeline. The first two sources learn of a timeline at a
/// checkpoint. The third learns of it at once, but only a role with the rights of `pg_read_all_stats` sees it.
const REPLAYED: &str = "
    SELECT greatest((SELECT timeline_id FROM pg_control_checkpoint()),
                    (SELECT min_recovery_end_timeline FROM pg_control_recovery()),
                    (SELECT received_tli FROM pg_stat_wal_receiver)),
           (pg_last_wal_replay_lsn() - '0/0')::bigint";
/// How long a call waits for a connection to a replica.
const SHORT: Duration = Duration::from_millis(250);
/// How long a replica that was lost is not used.
const REST: Duration = Duration::from_secs(1);

impl Replica {
    pub(super) fn new(pool: PostgresPool, announcer: Announcer) -> Self {
        Self { pool, announcer, progress: Mutex::default(), away: Mutex::new(None) }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a write over `primary`.
    pub(super) async fn wrote(&self, primary: &mut Link) {
        let written = written(primary).await;
        let mut progress = self.progress();
        match written {
            Ok(position) => progress.written = progress.written.max(position),
            // The write is done, whether its position is known or not.
            Err(_) => progress.unknown += 1,
        }
    }

    /// Returns a connection to the replica, if it is there and has what this instance has written.
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

    /// Returns whether the replica is known to have replayed the log up to `written`.
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

    /// Returns the doubts, unless they are settled.
    pub(super) fn doubts(&self) -> Option<Doubts> {
        let progress = self.progress();
        let doubts = Doubts { primaries: 1 + self.announcer.losses(), writes: progress.unknown };
        (progress.settled != doubts).then_some(doubts)
    }

    /// Settles doubts with a connection to the primary that was made, or found to be alive, after they arose.
    pub(super) async fn settle(&self, primary: &mut Link, doubts: Doubts) {
        // If the position cannot be found now, reads go on from the primary, and a later one finds it.
        if let Ok(position) = written(primary).await {
            self.progress().settle(doubts, position);
        }
    }

    /// Returns how many bytes of the log the replica is behind `written`, the primary's position; `None` if it does not
    /// respond or follows another timeline.
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

    /// Stops using the replica for a while, after it was lost.
    pub(super) fn rest(&self, error: &(dyn Error + 'static)) {
        tracing::warn!(error, "the replica is lost");
        self.pool.distrust();
        *self.away.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

/// Returns the position of a primary.
pub(super) async fn written(primary: &mut Link) -> Result<Position, sqlx::Error> {
    position(primary, WRITTEN).await
}

async fn position(link: &mut Link, sql: &'static str) -> Result<Position, sqlx::Error> {
    let (timeline, place): (Option<i32>, Option<i64>) = sqlx::query_as(sql).fetch_one(&mut **link).await?;
    Ok(Position { timeline: timeline.unwrap_or(0), place: place.unwrap_or(0) })
}
