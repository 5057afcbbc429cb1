use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rocket::tokio::time::Instant;

use crate::model::{AreaId, Clock, FloodState, ModerationAction, ReportKey, Timestamp};
use crate::stores::{FloodLogQuery, FloodQuery, LogQuery, ModerationQuery, Store, StoreError};

const MILLISECOND: Duration = Duration::from_millis(1);

/// The areas with a state, when each was set, and when it was confirmed.
pub(super) type States = BTreeMap<AreaId, (FloodState, Timestamp, Option<Timestamp>)>;

/// What really happened in the store, in order, and what was acknowledged to clients.
#[derive(Debug)]
pub(super) struct History {
    store: Arc<dyn Store>,
    store_clock: Arc<dyn Clock>,
    pub(super) started: Instant,
    /// Whether all states are recorded: a write and the read after it are one step in the memory store alone.
    is_complete: bool,
    states: Mutex<Vec<RecordedStates>>,
    leases: Mutex<Vec<(Instant, Option<usize>)>>,
    hidden: Mutex<BTreeMap<ReportKey, Instant>>,
    moderated: Mutex<BTreeSet<ReportKey>>,
    newest_change: Mutex<Option<Timestamp>>,
    moderation_read: AtomicU64,
    lines: Mutex<Vec<String>>,
    violations: Mutex<Vec<String>>,
}

#[derive(Debug)]
struct RecordedStates {
    at: Instant,
    server: usize,
    states: States,
}

pub(super) async fn read_states(store: &dyn Store) -> Result<States, StoreError> {
    let layer = store.floods(&FloodQuery::default()).await?.value;
    let flooded = layer.features().filter_map(|flood| Some((flood.area.id, flood.current?)));
    Ok(flooded.map(|(area, is)| (area, (is.state, is.last_updated, is.confirmed))).collect())
}

impl History {
    pub(super) fn new(store: Arc<dyn Store>, store_clock: Arc<dyn Clock>, is_complete: bool) -> Self {
        Self {
            store,
            store_clock,
            started: Instant::now(),
            is_complete,
            states: Mutex::default(),
            leases: Mutex::default(),
            hidden: Mutex::default(),
            moderated: Mutex::default(),
            newest_change: Mutex::default(),
            moderation_read: AtomicU64::new(0),
            lines: Mutex::default(),
            violations: Mutex::default(),
        }
    }

    pub(super) fn note(&self, line: impl std::fmt::Display) {
        let millis = self.started.elapsed().as_millis();
        self.lines.lock().unwrap().push(format!("{millis:>9} {line}"));
    }

    pub(super) fn violate(&self, rule: impl std::fmt::Display) {
        self.note(format_args!("VIOLATION: {rule}"));
        self.violations.lock().unwrap().push(rule.to_string());
    }

    pub(super) fn has_violations(&self) -> bool {
        !self.violations.lock().unwrap().is_empty()
    }

    pub(super) fn outcome(&self) -> (Vec<String>, Vec<String>) {
        (self.lines.lock().unwrap().clone(), self.violations.lock().unwrap().clone())
    }

    /// Records the states after a write of a server.
    pub(super) async fn record_states(&self, server: usize) {
        self.record_moderation().await;
        if self.is_complete {
            self.check_dates().await;
        }
        let Ok(states) = read_states(&*self.store).await else { return };
        self.states.lock().unwrap().push(RecordedStates { at: Instant::now(), server, states });
    }

    /// Checks that the last change has the time of the store's clock, or is just after an earlier change of one of its areas.
    async fn check_dates(&self) {
        let query = FloodLogQuery { most: 1, ..FloodLogQuery::default() };
        let changes = self.store.all_flood_changes(&query).await.unwrap();
        let Some(at) = changes.first().map(|newest| newest.change.at) else { return };
        let mut is_after_own_change = at <= self.store_clock.now();
        for logged in changes {
            let query = LogQuery { area: logged.change.area, before: Some(at), most: 1 };
            let before = self.store.latest_flood_changes(&query).await.unwrap();
            is_after_own_change |= before.iter().any(|before| before.at.saturating_add(MILLISECOND) == at);
        }
        let is_known = at == self.newest_change.lock().unwrap().map_or(at, |newest| newest);
        if !is_after_own_change && !is_known {
            self.violate(format_args!("a change at {at} is ahead of the clock without a reason"));
        }
        *self.newest_change.lock().unwrap() = Some(at);
    }

    async fn record_moderation(&self) {
        let after = self.moderation_read.load(Ordering::Relaxed);
        let query = ModerationQuery { after, before: None, most: 1_000 };
        let Ok(log) = self.store.moderation_log(query).await else { return };
        for entry in log.value.iter().rev() {
            // Another task may have recorded the entry meanwhile.
            if self.moderation_read.fetch_max(entry.number, Ordering::Relaxed) >= entry.number {
                continue;
            }
            self.moderated.lock().unwrap().insert(entry.report);
            if entry.action == ModerationAction::Show {
                self.hidden.lock().unwrap().remove(&entry.report);
            } else {
                self.record_hidden(entry.report);
            }
        }
    }

    /// Returns the first of the recorded states that a server may still show to a request which begins now: the newest of its
    /// own writes, or of others a second ago.
    pub(super) fn oldest_current(&self, server: usize, lag: Duration) -> usize {
        let now = Instant::now();
        let is_known = |recorded: &RecordedStates| recorded.server == server || recorded.at + lag <= now;
        self.states.lock().unwrap().iter().rposition(is_known).unwrap_or_default()
    }

    /// Returns the position of the newest recorded states equal to these, and `from` if not all states are recorded.
    pub(super) fn find(&self, states: &States, from: usize) -> Option<usize> {
        if !self.is_complete {
            return Some(from);
        }
        let recorded = self.states.lock().unwrap();
        let newest = recorded.iter().rposition(|recorded| recorded.states == *states);
        newest.filter(|newest| *newest >= from)
    }

    pub(super) fn states_from(&self, first: usize) -> Vec<States> {
        self.states.lock().unwrap()[first..].iter().map(|recorded| recorded.states.clone()).collect()
    }

    pub(super) fn write_count(&self) -> usize {
        self.states.lock().unwrap().len()
    }

    pub(super) fn last_write(&self) -> Option<Instant> {
        self.states.lock().unwrap().last().map(|recorded| recorded.at)
    }

    pub(super) fn record_lease(&self, holder: Option<usize>) {
        self.note(format_args!("the lease is held by {holder:?}"));
        self.leases.lock().unwrap().push((Instant::now(), holder));
    }

    /// Returns for how long another server has held the lease; `None` if this server holds it.
    pub(super) fn without_lease_for(&self, server: usize) -> Option<Duration> {
        let leases = self.leases.lock().unwrap();
        let own = leases.iter().rposition(|(_, holder)| *holder == Some(server));
        let next = own.map_or(0, |own| own + 1);
        leases.get(next).map(|(at, _)| at.elapsed())
    }

    pub(super) fn record_hidden(&self, report: ReportKey) {
        self.moderated.lock().unwrap().insert(report);
        self.hidden.lock().unwrap().entry(report).or_insert_with(Instant::now);
    }

    /// Whether a report has been hidden for this long.
    pub(super) fn is_hidden(&self, report: ReportKey, for_time: Duration) -> bool {
        self.hidden.lock().unwrap().get(&report).is_some_and(|since| since.elapsed() >= for_time)
    }

    pub(super) fn moderated_any(&self) -> bool {
        !self.moderated.lock().unwrap().is_empty()
    }

    pub(super) fn was_moderated(&self, report: ReportKey) -> bool {
        self.moderated.lock().unwrap().contains(&report)
    }
}
