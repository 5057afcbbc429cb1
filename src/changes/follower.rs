use std::convert::Infallible;
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::sync::watch;
use rocket::tokio::time::error::Elapsed;
use rocket::tokio::time::{Instant, sleep, timeout, timeout_at};
use rocket::tokio::{pin, select};
use rocket::{Orbit, Rocket};

use super::ticks::Ticks;
use super::{Cursor, RemovedReports, Snapshot, State, WithdrawnRevision};
use crate::model::{AreaSet, Clock, Timestamp};
use crate::runtime::run_in_background;
use crate::stores::{FloodQuery, ModerationQuery, Revision, Store, StoreError};
use crate::telemetry::Metrics;

/// The shortest time between polls: the revisions are counters in memory unless the connection to the database is lost.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The longest time between polls, and the delay after a failure.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The time for which the store may fail before the states count as stale.
const STALE_AFTER: Duration = Duration::from_secs(2);

/// The maximum lag of one server relative to another. [`Store::revision`] guarantees this limit.
const MAX_LAG: Duration = Duration::from_secs(1);

/// If a change is later than the clock by more than this, the follower logs a warning.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(10);

/// Reads the states whenever a revision has grown, once for all clients. Clones share the states.
#[derive(Clone, Debug)]
pub(crate) struct Follower(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    withdrawn: WithdrawnRevision,
    /// The epoch if the store has none: such a store counts its revisions from the start of the process.
    epoch: u64,
    state: watch::Sender<Option<Arc<State>>>,
    ticks: Ticks,
    /// When the last successful poll began: the states were current then. Initially the time of creation.
    confirmed: watch::Sender<(std::time::Instant, Timestamp)>,
    /// The time of the last successful poll, if that was longer than [`STALE_AFTER`] ago.
    stale: watch::Sender<Option<Timestamp>>,
}

impl Follower {
    /// Creates a follower, which reads nothing before the server runs.
    #[must_use]
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, metrics: Metrics) -> Self {
        let (epoch, withdrawn) = (RandomState::new().hash_one(0), WithdrawnRevision::default());
        let confirmed = watch::Sender::new((clock.monotonic(), clock.now()));
        let (state, stale) = (watch::Sender::new(None), watch::Sender::new(None));
        let ticks = Ticks::default();
        Self(Arc::new(Inner { store, clock, metrics, withdrawn, epoch, state, ticks, confirmed, stale }))
    }

    /// Returns the first revision of reports whose data has no hidden or erased report. The follower updates it.
    #[must_use]
    pub(crate) fn withdrawn_revision(&self) -> &WithdrawnRevision {
        &self.0.withdrawn
    }

    #[must_use]
    pub(crate) fn states(&self) -> watch::Receiver<Option<Arc<State>>> {
        self.0.state.subscribe()
    }

    /// Returns the states that clients of shared caches get until the next tick, and the time until that tick. The first call in
    /// a tick fixes the `current` states for the whole tick.
    pub(crate) fn states_at_tick(&self, every: Duration, current: &Arc<State>) -> (Arc<State>, Duration) {
        self.0.ticks.states(self.0.clock.now(), every, current)
    }

    /// Returns a receiver of the time since which the states may be stale, `None` while they are current. They may be stale once
    /// the store has not responded for 2 s. New states are published before the time becomes `None` again.
    #[must_use]
    pub(crate) fn stale(&self) -> watch::Receiver<Option<Timestamp>> {
        self.0.stale.subscribe()
    }

    #[must_use]
    pub(crate) fn stale_since(&self) -> Option<Timestamp> {
        *self.0.stale.borrow()
    }

    #[must_use]
    pub(crate) fn confirmed_at(&self) -> Timestamp {
        self.0.confirmed.borrow().1
    }

    /// Returns by how much the newest change is later than the clock, if by more than 10 s: the clocks of the servers differ.
    #[must_use]
    pub(crate) fn clock_skew(&self) -> Option<Duration> {
        self.0.state.borrow().as_ref().and_then(|state| clock_skew(state, self.0.clock.now()))
    }

    /// Waits until this server has read up to a cursor of the same epoch. Returns false if the store has not reached the cursor.
    ///
    /// Waits little more than a second, because no server lags more than a second. Waits longer while the store is unavailable,
    /// so the caller must set a timeout.
    pub(crate) async fn catch_up_to(&self, cursor: Cursor) -> bool {
        let (mut states, mut confirmed) = (self.states(), self.0.confirmed.subscribe());
        let not_before = self.0.clock.monotonic() + MAX_LAG;
        select! {
            biased;
            _ = states.wait_for(|state| state.as_ref().is_some_and(|state| !state.is_behind(cursor))) => true,
            _ = confirmed.wait_for(|(started, _)| *started >= not_before) => false,
        }
    }

    /// Returns the areas as last read, even during an outage. Waits for the first reading, so the caller must set a timeout.
    pub(crate) async fn areas(&self) -> Result<Arc<AreaSet>, StoreError> {
        let mut states = self.states();
        let first = states.wait_for(Option::is_some).await.ok();
        let areas = first.and_then(|state| state.as_ref().map(|state| Arc::clone(state.areas())));
        areas.ok_or_else(|| StoreError::NotFound { what: "the areas".to_owned() })
    }

    /// Like [`current`](Self::current), but returns `None` as soon as the states are stale, without querying the store.
    pub(crate) async fn current_unless_stale(&self) -> Result<Option<Arc<State>>, StoreError> {
        let mut stale = self.stale();
        select! {
            biased;
            _ = stale.wait_for(Option::is_some) => Ok(None),
            current = self.current() => current.map(Some),
        }
    }

    /// Like [`current`](Self::current) for a client with a cursor, which may be ahead of this server. Also returns the cursor,
    /// or `None` if it is ahead of the store. Each wait takes at most `limit`.
    pub(crate) async fn current_since(
        &self,
        since: Option<Cursor>,
        limit: Duration,
    ) -> Result<Result<(Arc<State>, Option<Cursor>), StoreError>, Elapsed> {
        let state = match timeout(limit, self.current()).await? {
            Ok(state) => state,
            Err(error) => return Ok(Err(error)),
        };
        let Some(ahead) = since.filter(|since| state.is_behind(*since)) else {
            return Ok(Ok((state, since)));
        };
        let has_caught_up = timeout(limit, self.catch_up_to(ahead)).await.unwrap_or_default();
        let current = timeout(limit, self.current()).await?;
        Ok(current.map(|state| (state, has_caught_up.then_some(ahead))))
    }

    pub(crate) async fn follow(self) {
        match self.0.follow().await {}
    }

    /// Returns states that include every change acknowledged before the call. Fails if the store cannot return its revisions. The
    /// caller must set a timeout.
    pub(crate) async fn current(&self) -> Result<Arc<State>, StoreError> {
        let present = self.0.revisions().await?;
        let mut states = self.states();
        let is_current = |state: &Option<Arc<State>>| {
            state.as_ref().is_some_and(|state| has_reached(state.cursor().revisions(), present))
        };
        let state = states.wait_for(is_current).await.ok().and_then(|state| state.clone());
        // Never fails: this value owns the sender, so the channel is open.
        state.ok_or_else(|| StoreError::NotFound { what: "the state".to_owned() })
    }
}

impl Inner {
    /// Polls without end, and marks the states as stale when no poll has succeeded for [`STALE_AFTER`].
    async fn follow(&self) -> Infallible {
        // Whether the database is certainly the same as in the last poll. False at the start and after a failure.
        let mut is_certain = false;
        let mut stale_at = Instant::now() + STALE_AFTER;
        let mut behind = None;
        loop {
            let started = Instant::now();
            let confirmed = (self.clock.monotonic(), self.clock.now());
            let outcome = {
                let look = self.poll(is_certain, &mut behind);
                pin!(look);
                match timeout_at(stale_at, &mut look).await {
                    Ok(outcome) => outcome,
                    Err(error) => {
                        self.mark_stale(&error);
                        look.await
                    }
                }
            };
            match outcome {
                Ok(()) if behind.is_some() => sleep(MIN_POLL_INTERVAL).await,
                Ok(()) => {
                    is_certain = true;
                    stale_at = Instant::now() + STALE_AFTER;
                    self.mark_current(confirmed);
                    // Polls less often if a poll queries the database, but still reads changes within a second.
                    sleep((10 * started.elapsed()).clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL)).await;
                }
                Err(error) => {
                    is_certain = false;
                    tracing::debug!(error = &error as &dyn Error, "the changes cannot be read");
                    if stale_at <= Instant::now() + MAX_POLL_INTERVAL {
                        self.mark_stale(&error);
                    }
                    sleep(MAX_POLL_INTERVAL).await;
                }
            }
        }
    }

    fn mark_current(&self, confirmed: (std::time::Instant, Timestamp)) {
        self.confirmed.send_replace(confirmed);
        if self.stale.send_if_modified(|stale| stale.take().is_some()) {
            tracing::warn!("the changes can be read again: streams are current");
        }
    }

    /// Marks the states as stale. Logs each outage once, at its beginning.
    fn mark_stale(&self, error: &(dyn Error + 'static)) {
        let (_, since) = *self.confirmed.borrow();
        let begins = self.stale.send_if_modified(|stale| {
            let begins = stale.is_none();
            *stale = stale.or(Some(since));
            begins
        });
        if begins {
            tracing::warn!(error, %since, "the changes cannot be read: streams say that they may be out of date");
        }
    }

    async fn revisions(&self) -> Result<[Revision; 4], StoreError> {
        let mut revisions = [Revision(0); 4];
        for (revision, resource) in revisions.iter_mut().zip(Cursor::RESOURCES) {
            *revision = self.store.revision(resource).await?;
        }
        Ok(revisions)
    }

    /// Reads the revisions, and then the states if the revision of floods has changed or `is_certain` is false. `behind` is the
    /// time since which the revisions are lower than in an earlier poll. Ignores lower revisions for up to [`MAX_LAG`], because
    /// the store may lag.
    async fn poll(&self, is_certain: bool, behind: &mut Option<Instant>) -> Result<(), StoreError> {
        let mut revisions = self.revisions().await?;
        let last = self.state.borrow().clone();
        let is_behind = last.as_ref().is_some_and(|last| !has_reached(revisions, last.cursor().revisions()));
        if is_behind && is_certain && behind.get_or_insert_with(Instant::now).elapsed() <= MAX_LAG {
            return Ok(());
        }
        *behind = None;
        if let Some(last) = last.as_ref().filter(|_| is_certain) {
            if Cursor::new(last.cursor().epoch, revisions) == last.cursor() {
                return Ok(());
            }
            if revisions[0] == last.cursor().floods && has_reached(revisions, last.cursor().revisions()) {
                let removed = self.read_removed(Some(last), &mut revisions).await?;
                let cursor = Cursor::new(last.cursor().epoch, revisions);
                self.state.send_replace(Some(Arc::new(last.with_cursor(cursor, removed))));
                return Ok(());
            }
        }
        let epoch = self.store.epoch().await?.unwrap_or(self.epoch);
        // If revisions are lower, the database has lost changes: does not continue from the last states.
        let last = last.filter(|last| has_reached(revisions, last.cursor().revisions()));
        let same_epoch = last.as_deref().filter(|last| last.cursor().epoch == epoch);
        let removed = self.read_removed(same_epoch, &mut revisions).await?;
        let layer = self.store.floods(&FloodQuery::default()).await?;
        revisions[0] = layer.revision;
        let snapshot =
            Snapshot { cursor: Cursor::new(epoch, revisions), layer: &layer.value, removed: &removed };
        let next = last.as_ref().map_or_else(|| State::new(snapshot), |last| last.next(snapshot));
        if let Some(newest) = next.last_changed()
            && last.as_ref().is_some_and(|last| Some(newest) > last.last_changed())
        {
            self.metrics.set_change_delay(self.clock.now().saturating_duration_since(newest));
        }
        let now = self.clock.now();
        if let Some(skew) = clock_skew(&next, now)
            && last.as_ref().is_none_or(|last| clock_skew(last, now).is_none())
        {
            let skew = humantime::format_duration(Duration::from_secs(skew.as_secs())).to_string();
            tracing::warn!(
                by = skew,
                "the newest change of a flood state is ahead of the clock: set the clocks of the servers right"
            );
        }
        self.state.send_replace(Some(Arc::new(next)));
        Ok(())
    }
}

impl Inner {
    /// Reads the moderation log, and raises the revision of reports to that of the log: clients get each removed report once.
    async fn read_removed(
        &self,
        last: Option<&State>,
        revisions: &mut [Revision; 4],
    ) -> Result<RemovedReports, StoreError> {
        let removed = last.map(State::removed_reports).cloned().unwrap_or_default();
        if last.is_some_and(|last| last.cursor().reports == revisions[1]) {
            return Ok(removed);
        }
        let query = ModerationQuery { after: removed.last(), before: None, most: RemovedReports::MAX };
        let log = self.store.moderation_log(query).await?;
        if !log.value.is_empty() {
            self.withdrawn.note(log.revision);
        }
        revisions[1] = revisions[1].max(log.revision);
        Ok(removed.next(&log))
    }
}

fn clock_skew(state: &State, now: Timestamp) -> Option<Duration> {
    state.last_changed().map(|newest| newest.saturating_duration_since(now)).filter(|by| *by > MAX_CLOCK_SKEW)
}

/// Whether each revision has reached the `wanted` one.
fn has_reached(revisions: [Revision; 4], wanted: [Revision; 4]) -> bool {
    revisions.iter().zip(wanted).all(|(own, wanted)| *own >= wanted)
}

#[rocket::async_trait]
impl Fairing for Follower {
    fn info(&self) -> Info {
        Info { name: "Changes", kind: Kind::Liftoff }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        run_in_background(rocket, self.clone().follow());
    }
}
