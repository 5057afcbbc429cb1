use std::convert::Infallible;
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::sync::watch;
use rocket::tokio::time::{Instant, sleep, timeout_at};
use rocket::tokio::{pin, select};
use rocket::{Orbit, Rocket};

use super::ticks::Ticks;
use super::{Cursor, Reading, RemovedReports, State, WithdrawnRevision};
use crate::model::{AreaSet, Clock, Timestamp};
use crate::runtime::run_in_background;
use crate::stores::{FloodQuery, ModerationQuery, Revision, Store, StoreError};
use crate::telemetry::Metrics;

/// How often the revisions are read. They are counters in memory, unless the connection to the database is lost.
const ROUND: Duration = Duration::from_millis(20);

/// How long the follower waits at most, and after the store was away.
const AWAY: Duration = Duration::from_millis(250);

/// How long the store may fail to respond before the states count as out of date.
const GRACE: Duration = Duration::from_secs(2);

/// How far a server may be behind another one: [`Store::revision`] promises no less.
const LAG: Duration = Duration::from_secs(1);

/// How far a change may be ahead of the clock before that counts as a fault.
const AHEAD: Duration = Duration::from_secs(10);

/// Reads the states again whenever a revision has grown, once for all clients. Clones share what was read.
#[derive(Clone, Debug)]
pub(crate) struct Follower(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    withdrawn: WithdrawnRevision,
    /// The epoch if the store has none of its own: its revisions count from the beginning of the process.
    epoch: u64,
    state: watch::Sender<Option<Arc<State>>>,
    ticks: Ticks,
    /// When the last look began after which the states were current; before the first, when this was made.
    certain: watch::Sender<(Instant, Timestamp)>,
    /// The same while it is longer ago than [`GRACE`].
    stale: watch::Sender<Option<Timestamp>>,
}

impl Follower {
    /// Makes a follower of a store. It reads nothing before the server runs.
    #[must_use]
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, metrics: Metrics) -> Self {
        let (epoch, withdrawn) = (RandomState::new().hash_one(0), WithdrawnRevision::default());
        let certain = watch::Sender::new((Instant::now(), clock.now()));
        let (state, stale) = (watch::Sender::new(None), watch::Sender::new(None));
        let ticks = Ticks::default();
        Self(Arc::new(Inner { store, clock, metrics, withdrawn, epoch, state, ticks, certain, stale }))
    }

    /// Returns what is known of reports that were hidden or erased. The follower adds what it reads in the log.
    #[must_use]
    pub(crate) fn withdrawn(&self) -> &WithdrawnRevision {
        &self.0.withdrawn
    }

    /// Returns the states as they are read.
    #[must_use]
    pub(crate) fn states(&self) -> watch::Receiver<Option<Arc<State>>> {
        self.0.state.subscribe()
    }

    /// Returns the states that clients behind shared caches get until the next tick, and the time until then. They are the
    /// `current` ones of the first call in the tick.
    pub(crate) fn at_tick(&self, every: Duration, current: &Arc<State>) -> (Arc<State>, Duration) {
        self.0.ticks.states(self.0.clock.now(), every, current)
    }

    /// Returns the time until which the states are known to be current, while they may be out of date: `None` while they are
    /// current. They may be out of date if the store has not responded for 2 s. The states that are read afterwards are there
    /// before this is `None` again.
    #[must_use]
    pub(crate) fn stale(&self) -> watch::Receiver<Option<Timestamp>> {
        self.0.stale.subscribe()
    }

    /// Returns the present value of [`stale`](Self::stale).
    #[must_use]
    pub(crate) fn stale_since(&self) -> Option<Timestamp> {
        *self.0.stale.borrow()
    }

    /// Returns the time at which the states were last known to be current.
    #[must_use]
    pub(crate) fn certain_at(&self) -> Timestamp {
        self.0.certain.borrow().1
    }

    /// Returns how far the newest change is ahead of the clock, if it is by more than 10 s: a clock was ahead, or this one is
    /// behind.
    #[must_use]
    pub(crate) fn ahead(&self) -> Option<Duration> {
        self.0.state.borrow().as_ref().and_then(|state| ahead(state, self.0.clock.now()))
    }

    /// Returns whether this server reads as far as a cursor of the same epoch. `false` means that the cursor is ahead of the
    /// store: another server can be ahead of this one for a second at most.
    ///
    /// Waits until that is certain, for a little more than a second. While the store is away it is not: the caller limits the
    /// time.
    pub(crate) async fn reaches(&self, cursor: Cursor) -> bool {
        let (mut states, mut certain) = (self.states(), self.0.certain.subscribe());
        // The clock may have stepped back, so the look must also begin after the call.
        let (called, surely) = (Instant::now(), self.0.clock.now().after(LAG));
        select! {
            biased;
            _ = states.wait_for(|state| state.as_ref().is_some_and(|state| !state.is_behind(cursor))) => true,
            _ = certain.wait_for(|(begun, at)| *begun >= called && *at >= surely) => false,
        }
    }

    /// Returns the areas as they were last read, which stay known while the store is away. Waits for the first reading; the
    /// caller limits the time.
    ///
    /// # Errors
    ///
    /// If the server ends before.
    pub(crate) async fn areas(&self) -> Result<Arc<AreaSet>, StoreError> {
        let mut states = self.states();
        let first = states.wait_for(Option::is_some).await.ok();
        let areas = first.and_then(|state| state.as_ref().map(|state| Arc::clone(state.areas())));
        areas.ok_or_else(|| StoreError::NotFound { what: "the areas".to_owned() })
    }

    /// Returns states that include every change that was acknowledged before the call; `None` as soon as the store is known to be
    /// away: then it is not asked. The caller limits the time.
    ///
    /// # Errors
    ///
    /// If the store cannot tell its revisions.
    pub(crate) async fn current_unless_away(&self) -> Result<Option<Arc<State>>, StoreError> {
        let mut stale = self.stale();
        select! {
            biased;
            _ = stale.wait_for(Option::is_some) => Ok(None),
            current = self.current() => current.map(Some),
        }
    }

    /// Returns states that include every change that was acknowledged before the call. The caller limits the time.
    ///
    /// # Errors
    ///
    /// If the store cannot tell its revisions.
    pub(crate) async fn current(&self) -> Result<Arc<State>, StoreError> {
        let present = self.0.revisions().await?;
        let mut states = self.states();
        let is_current = |state: &Option<Arc<State>>| {
            state.as_ref().is_some_and(|state| reached(state.cursor().revisions(), present))
        };
        let found = states.wait_for(is_current).await.ok().and_then(|state| state.clone());
        // The sender is a part of this value, so the channel is open.
        found.ok_or_else(|| StoreError::NotFound { what: "the state".to_owned() })
    }
}

impl Inner {
    async fn follow(&self) -> Infallible {
        // After a failure the database may be another one.
        let mut is_certain = false;
        let mut doubted = Instant::now() + GRACE;
        let mut behind = None;
        loop {
            let (begun, at) = (Instant::now(), self.clock.now());
            let outcome = {
                let look = self.look(is_certain, &mut behind);
                pin!(look);
                match timeout_at(doubted, &mut look).await {
                    Ok(outcome) => outcome,
                    Err(late) => {
                        self.doubt(&late);
                        look.await
                    }
                }
            };
            match outcome {
                Ok(()) if behind.is_some() => sleep(ROUND).await,
                Ok(()) => {
                    is_certain = true;
                    doubted = Instant::now() + GRACE;
                    self.vouch(begun, at);
                    // While each look is a query, looks are rare, but a change is read within a second.
                    sleep((10 * begun.elapsed()).clamp(ROUND, AWAY)).await;
                }
                Err(error) => {
                    is_certain = false;
                    tracing::debug!(error = &error as &dyn Error, "the changes cannot be read");
                    if doubted <= Instant::now() + AWAY {
                        self.doubt(&error);
                    }
                    sleep(AWAY).await;
                }
            }
        }
    }

    /// Notes that the states are those at a time or later.
    fn vouch(&self, begun: Instant, at: Timestamp) {
        self.certain.send_replace((begun, at));
        if self.stale.send_if_modified(|stale| stale.take().is_some()) {
            tracing::warn!("the changes can be read again: streams are current");
        }
    }

    /// Notes that the states may be out of date. Logs it once for each outage.
    fn doubt(&self, error: &(dyn Error + 'static)) {
        let (_, since) = *self.certain.borrow();
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

    /// Reads the revisions, and the states if that of floods is another one or `is_certain` is false. `behind` is since when the
    /// revisions are less than those that were read: for up to [`LAG`] the store may not know better, and nothing happens.
    async fn look(&self, is_certain: bool, behind: &mut Option<Instant>) -> Result<(), StoreError> {
        let mut revisions = self.revisions().await?;
        let known = self.state.borrow().clone();
        let is_behind = known.as_ref().is_some_and(|known| !reached(revisions, known.cursor().revisions()));
        if is_behind && is_certain && behind.get_or_insert_with(Instant::now).elapsed() <= LAG {
            return Ok(());
        }
        *behind = None;
        if let Some(known) = known.as_ref().filter(|_| is_certain) {
            if Cursor::new(known.cursor().epoch, revisions) == known.cursor() {
                return Ok(());
            }
            if revisions[0] == known.cursor().floods && reached(revisions, known.cursor().revisions()) {
                let gone = self.gone(Some(known), &mut revisions).await?;
                let cursor = Cursor::new(known.cursor().epoch, revisions);
                self.state.send_replace(Some(Arc::new(known.with(cursor, gone))));
                return Ok(());
            }
        }
        let epoch = self.store.epoch().await?.unwrap_or(self.epoch);
        // Revisions of the same epoch never shrink, unless the database lost changes.
        let known = known.filter(|known| reached(revisions, known.cursor().revisions()));
        let of_epoch = known.as_deref().filter(|known| known.cursor().epoch == epoch);
        let gone = self.gone(of_epoch, &mut revisions).await?;
        let map = self.store.floods(&FloodQuery::default()).await?;
        revisions[0] = map.revision;
        let reading = Reading { cursor: Cursor::new(epoch, revisions), map: &map.value, gone: &gone };
        let next = known.as_ref().map_or_else(|| State::new(reading), |known| known.next(reading));
        if let Some(newest) = next.newest()
            && known.as_ref().is_some_and(|known| Some(newest) > known.newest())
        {
            self.metrics.change_delay(self.clock.now().since(newest));
        }
        let now = self.clock.now();
        if let Some(by) = ahead(&next, now)
            && known.as_ref().is_none_or(|known| ahead(known, now).is_none())
        {
            let by = humantime::format_duration(Duration::from_secs(by.as_secs())).to_string();
            tracing::warn!(
                by,
                "the newest change of a flood state is ahead of the clock: set the clocks of the servers right"
            );
        }
        self.state.send_replace(Some(Arc::new(next)));
        Ok(())
    }
}

impl Inner {
    /// Reads the moderation log, and raises the revision of the reports to that of the log, so that a cursor never promises more
    /// than was read.
    async fn gone(
        &self,
        known: Option<&State>,
        revisions: &mut [Revision; 4],
    ) -> Result<RemovedReports, StoreError> {
        let before = known.map(State::gone).cloned().unwrap_or_default();
        if known.is_some_and(|known| known.cursor().reports == revisions[1]) {
            return Ok(before);
        }
        let query = ModerationQuery { after: before.last(), before: None, most: RemovedReports::MOST };
        let found = self.store.moderation_log(query).await?;
        if !found.value.is_empty() {
            self.withdrawn.note(found.revision);
        }
        revisions[1] = revisions[1].max(found.revision);
        Ok(before.next(&found))
    }
}

/// Returns how far the newest change of a state is ahead of a moment, if it is by more than [`AHEAD`].
fn ahead(state: &State, now: Timestamp) -> Option<Duration> {
    state.newest().map(|newest| newest.since(now)).filter(|by| *by > AHEAD)
}

/// Returns whether none of the revisions is before the one that is `wanted`.
fn reached(revisions: [Revision; 4], wanted: [Revision; 4]) -> bool {
    revisions.iter().zip(wanted).all(|(own, wanted)| *own >= wanted)
}

#[rocket::async_trait]
impl Fairing for Follower {
    fn info(&self) -> Info {
        Info { name: "Changes", kind: Kind::Liftoff }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        let inner = Arc::clone(&self.0);
        run_in_background(rocket, async move { match inner.follow().await {} });
    }
}
