use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rocket::fairing::{Fairing, Info, Kind};
use rocket::tokio::sync::watch;
use rocket::tokio::time::sleep;
use rocket::{Orbit, Rocket};

use super::{Cursor, GoneReports, Reading, State};
use crate::model::{AreaSet, Clock, Timestamp};
use crate::stores::{EntryQuery, FloodQuery, ModerationQuery, Resource, Revision, Store, StoreError};
use crate::tasks::run_in_background;
use crate::telemetry::Metrics;

/// How often the revisions are read. They are counters in memory, unless the connection to the database is lost.
const ROUND: Duration = Duration::from_millis(20);

/// How long the follower waits at most, and after the store was away.
const AWAY: Duration = Duration::from_millis(250);

/// How much of the log before the newest change that is known is read again: changes that are committed together can be this
/// far apart by the clocks of their servers.
const OVERLAP: Duration = Duration::from_mins(1);

/// How often the map and the log are read until both are of one revision. After the last attempt the log may be of a later one.
const ATTEMPTS: usize = 3;

/// Reads the states again whenever a revision has grown, once for all clients. Clones share what was read.
#[derive(Clone, Debug)]
pub struct Follower(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    /// The epoch if the store has none of its own: its revisions count from the beginning of the process.
    epoch: u64,
    state: watch::Sender<Option<Arc<State>>>,
}

impl Follower {
    /// Makes a follower of a store. It reads nothing before the server runs.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, metrics: Metrics) -> Self {
        let epoch = RandomState::new().hash_one(0);
        Self(Arc::new(Inner { store, clock, metrics, epoch, state: watch::Sender::new(None) }))
    }

    /// Returns the states as they are read.
    #[must_use]
    pub fn states(&self) -> watch::Receiver<Option<Arc<State>>> {
        self.0.state.subscribe()
    }

    /// Returns the areas as they were last read, which stay known while the store is away. Waits for the first reading; the
    /// caller limits the time.
    ///
    /// # Errors
    ///
    /// If the server ends before.
    pub async fn areas(&self) -> Result<Arc<AreaSet>, StoreError> {
        let mut states = self.states();
        let first = states.wait_for(Option::is_some).await.ok();
        let areas = first.and_then(|state| state.as_ref().map(|state| Arc::clone(state.areas())));
        areas.ok_or_else(|| StoreError::NotFound { what: "the areas".to_owned() })
    }

    /// Returns the areas as they were last read, if they were.
    #[must_use]
    pub fn known_areas(&self) -> Option<Arc<AreaSet>> {
        self.0.state.borrow().as_ref().map(|state| Arc::clone(state.areas()))
    }

    /// Returns states that include every change that was acknowledged before the call. The caller limits the time.
    ///
    /// # Errors
    ///
    /// If the store cannot tell its revision.
    pub async fn current(&self) -> Result<Arc<State>, StoreError> {
        let floods = self.0.store.revision(Resource::Floods).await?;
        let mut states = self.states();
        let is_current =
            |state: &Option<Arc<State>>| state.as_ref().is_some_and(|state| state.cursor().floods >= floods);
        let found = states.wait_for(is_current).await.ok().and_then(|state| state.clone());
        // The sender is a part of this value, so the channel is open.
        found.ok_or_else(|| StoreError::NotFound { what: "the state".to_owned() })
    }
}

impl Inner {
    async fn follow(&self) -> Infallible {
        // After a failure the database may be another one.
        let mut is_certain = false;
        loop {
            let begun = Instant::now();
            match self.look(is_certain).await {
                Ok(()) => {
                    is_certain = true;
                    // While each look is a query, looks are rare, but a change is read within a second.
                    sleep((10 * begun.elapsed()).clamp(ROUND, AWAY)).await;
                }
                Err(error) => {
                    is_certain = false;
                    tracing::debug!(error = &error as &dyn std::error::Error, "the changes cannot be read");
                    sleep(AWAY).await;
                }
            }
        }
    }

    /// Reads the revisions, and the states if that of floods is another one or `is_certain` is false.
    async fn look(&self, is_certain: bool) -> Result<(), StoreError> {
        let mut revisions = [Revision(0); 4];
        for (revision, resource) in revisions.iter_mut().zip(Cursor::RESOURCES) {
            *revision = self.store.revision(resource).await?;
        }
        let known = self.state.borrow().clone();
        if let Some(known) = known.as_ref().filter(|_| is_certain) {
            if Cursor::new(known.cursor().epoch, revisions) == known.cursor() {
                return Ok(());
            }
            if revisions[0] == known.cursor().floods {
                let gone = self.gone(Some(known), &mut revisions).await?;
                let cursor = Cursor::new(known.cursor().epoch, revisions);
                self.state.send_replace(Some(Arc::new(known.with(cursor, gone))));
                return Ok(());
            }
        }
        let epoch = self.store.epoch().await?.unwrap_or(self.epoch);
        // Revisions of the same epoch never shrink, unless the database lost changes.
        let known = known.filter(|known| revisions[0] >= known.cursor().floods);
        let of_epoch = known.as_deref().filter(|known| known.cursor().epoch == epoch);
        let gone = self.gone(of_epoch, &mut revisions).await?;
        let since = known.as_ref().map_or_else(|| self.clock.now(), |known| known.newest());
        let query = EntryQuery { area: None, from: since.before(OVERLAP), until: Timestamp::LAST };
        for attempt in 1..=ATTEMPTS {
            let map = self.store.floods(&FloodQuery::default()).await?;
            let log = self.store.flood_entries(&query).await?;
            let is_exact = log.revision == map.revision;
            // While states are set all the time, the log is nearly always of a later revision than the map.
            if !is_exact && (attempt < ATTEMPTS || log.revision < map.revision) {
                continue;
            }
            revisions[0] = map.revision;
            let last = log.value.iter().filter_map(|(area, entries)| Some((*area, entries.last()?.at)));
            let changes: Vec<_> = last.collect();
            let reading = Reading {
                cursor: Cursor::new(epoch, revisions),
                map: &map.value,
                changes: &changes,
                is_exact,
                gone: &gone,
                at: since,
            };
            let next = known.as_ref().map_or_else(|| State::new(reading), |known| known.next(reading));
            if known.as_ref().is_some_and(|known| next.newest() > known.newest()) {
                self.metrics.change_delay(self.clock.now().since(next.newest()));
            }
            self.state.send_replace(Some(Arc::new(next)));
            return Ok(());
        }
        Ok(())
    }
}

impl Inner {
    /// Reads which reports have gone, and sets the revision of the reports to that at which it read them: so a cursor of this
    /// revision includes them.
    async fn gone(
        &self,
        known: Option<&State>,
        revisions: &mut [Revision; 4],
    ) -> Result<GoneReports, StoreError> {
        let before = known.map(State::gone).cloned().unwrap_or_default();
        if known.is_some_and(|known| known.cursor().reports == revisions[1]) {
            return Ok(before);
        }
        let query = ModerationQuery { after: before.last(), before: None, most: GoneReports::MOST };
        let found = self.store.moderation_log(query).await?;
        revisions[1] = revisions[1].max(found.revision);
        Ok(before.next(&found))
    }
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
