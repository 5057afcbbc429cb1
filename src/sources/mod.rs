//! Data sources: when each one last reported, and whether it is late.
//!
//! Servers keep the times in memory, so reading them needs no query. [`tasks`](crate::tasks) synchronizes the times with the
//! store, and so with other servers.

mod activity_recorder;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

pub(crate) use self::activity_recorder::ActivityRecorder;
use crate::config::SourceSettings;
use crate::data::statements::Watch;
use crate::model::{Clock, CoveredData, DataState, SourceStatus, Timestamp};

/// Minimum time between two writes of one source's time to the store.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);

/// The configured sources, and when each last reported. Clones share the times.
#[derive(Clone, Debug)]
pub(crate) struct Sources(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    configured: BTreeMap<String, SourceSettings>,
    clock: Arc<dyn Clock>,
    activity: Mutex<BTreeMap<String, SourceActivity>>,
}

#[derive(Debug)]
struct SourceActivity {
    at: Timestamp,
    /// The latest time that the store is known to contain.
    stored: Option<Timestamp>,
    /// When this server last wrote the source's time to the store.
    written: Option<Instant>,
}

/// A source as it is serialized in responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SourceReport {
    pub(crate) name: String,
    pub(crate) covers: BTreeSet<CoveredData>,
    /// `None` if the source never reported.
    pub(crate) last_heard: Option<Timestamp>,
    /// When the next report is expected at the latest; `None` if the source never reported.
    pub(crate) expected_by: Option<Timestamp>,
    pub(crate) status: SourceStatus,
}

impl Sources {
    #[must_use]
    pub(crate) fn new(configured: BTreeMap<String, SourceSettings>, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner { configured, clock, activity: Mutex::default() }))
    }

    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.configured.is_empty()
    }

    /// Returns the subject of a source's credentials; `None` if there is no such source.
    #[must_use]
    pub(crate) fn subject(&self, name: &str) -> Option<&str> {
        self.0.configured.get(name).map(|source| source.subject.as_str())
    }

    /// Records that a source reports now, and returns the source; `None` if there is no such source.
    #[must_use]
    pub(crate) fn record_heartbeat(&self, name: &str) -> Option<SourceReport> {
        let (name, source) = self.0.configured.get_key_value(name)?;
        let now = self.0.clock.now();
        let mut activity = self.activity();
        record(&mut activity, name, now);
        Some(report(name, source, &activity, now))
    }

    /// Records that all sources with this subject report now.
    pub(crate) fn record_subject(&self, subject: &str) {
        let now = self.0.clock.now();
        for (name, _) in self.0.configured.iter().filter(|(_, source)| source.subject == subject) {
            record(&mut self.activity(), name, now);
        }
    }

    #[must_use]
    pub(crate) fn reports(&self) -> Vec<SourceReport> {
        let (now, activity) = (self.0.clock.now(), self.activity());
        self.0.configured.iter().map(|(name, source)| report(name, source, &activity, now)).collect()
    }

    /// Returns each source's name, the time since its last report (`None` if it never reported), and its status.
    #[must_use]
    pub(crate) fn ages(&self) -> Vec<(String, Option<Duration>, SourceStatus)> {
        let now = self.0.clock.now();
        let with_age = |report: SourceReport| {
            (report.name, report.last_heard.map(|at| now.saturating_duration_since(at)), report.status)
        };
        self.reports().into_iter().map(with_age).collect()
    }

    /// Whether a source of this data is silent, so that data may be missing.
    #[must_use]
    pub(crate) fn is_silent(&self, data: CoveredData) -> bool {
        self.state(Some(data)).status == Some(SourceStatus::Silent)
    }

    /// Returns how current this data is, judged by all sources that cover it.
    #[must_use]
    pub(crate) fn state(&self, data: Option<CoveredData>) -> DataState {
        let mut state = DataState::default();
        let Some(data) = data.filter(|_| !self.is_empty()) else { return state };
        let (now, activity) = (self.0.clock.now(), self.activity());
        for (name, source) in self.0.configured.iter().filter(|(_, source)| source.covers.contains(&data)) {
            let at = activity.get(name).map(|activity| activity.at);
            state.add(at, SourceStatus::from_last_heard(at, source.every, now));
        }
        state
    }

    /// Merges times that were read from the store. Ignores names of sources that are not configured.
    pub(crate) fn merge_stored(&self, stored: BTreeMap<String, Timestamp>) {
        let mut activity = self.activity();
        for (name, at) in stored.into_iter().filter(|(name, _)| self.0.configured.contains_key(name)) {
            record(&mut activity, &name, at).stored = Some(at);
        }
    }

    /// Returns the times that are not stored yet. Unless `all` is set, leaves out sources that were written in the last second.
    pub(crate) fn unstored(&self, all: bool) -> Vec<(String, Timestamp)> {
        let waits =
            |activity: &SourceActivity| activity.written.is_some_and(|at| at.elapsed() < WRITE_INTERVAL);
        let activity = self.activity();
        let due = activity
            .iter()
            .filter(|(_, activity)| activity.stored < Some(activity.at) && (all || !waits(activity)));
        due.map(|(name, activity)| (name.clone(), activity.at)).collect()
    }

    pub(crate) fn mark_stored(&self, name: &str, at: Timestamp) {
        if let Some(activity) = self.activity().get_mut(name) {
            activity.stored = activity.stored.max(Some(at));
            activity.written = Some(Instant::now());
        }
    }

    fn activity(&self) -> MutexGuard<'_, BTreeMap<String, SourceActivity>> {
        self.0.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records when a source reported, unless a later time is already recorded.
fn record<'h>(
    activity: &'h mut BTreeMap<String, SourceActivity>,
    name: &str,
    at: Timestamp,
) -> &'h mut SourceActivity {
    let entry = activity.entry(name.to_owned()).or_insert(SourceActivity { at, stored: None, written: None });
    entry.at = entry.at.max(at);
    entry
}

/// Returns whether the sources of flood data are on time, and the first silent source.
pub(crate) fn watch(sources: &[SourceReport]) -> (Watch, Option<&SourceReport>) {
    let mut flood_sources =
        sources.iter().filter(|source| source.covers.contains(&CoveredData::Floods)).peekable();
    if flood_sources.peek().is_none() {
        return (Watch::Unwatched, None);
    }
    match flood_sources.find(|source| source.status == SourceStatus::Silent) {
        Some(silent) => (Watch::Silent { heard: silent.last_heard.is_some() }, Some(silent)),
        None => (Watch::Heard, None),
    }
}

fn report(
    name: &str,
    source: &SourceSettings,
    activity: &BTreeMap<String, SourceActivity>,
    now: Timestamp,
) -> SourceReport {
    let last_heard = activity.get(name).map(|activity| activity.at);
    SourceReport {
        name: name.to_owned(),
        covers: source.covers.clone(),
        last_heard,
        expected_by: last_heard.map(|at| at.saturating_add(source.every)),
        status: SourceStatus::from_last_heard(last_heard, source.every, now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ManualClock;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.saturating_add(Duration::from_secs(seconds))
    }

    #[test]
    fn a_time_is_stored_once_and_the_next_one_a_second_later_or_at_the_end() {
        let desk = SourceSettings::new("bpbd", Duration::from_mins(10));
        let clock = Arc::new(ManualClock::new(at(7)));
        let sources = Sources::new([("desk".to_owned(), desk)].into(), Arc::clone(&clock) as _);
        sources.record_subject("another");
        assert_eq!(sources.unstored(false), []);
        sources.record_subject("bpbd");
        assert_eq!(sources.unstored(false), [("desk".to_owned(), at(7))]);
        sources.mark_stored("desk", at(7));
        assert_eq!(sources.unstored(true), []);
        clock.set(at(8));
        sources.record_subject("bpbd");
        assert_eq!(sources.unstored(false), [], "the last one was stored just now");
        assert_eq!(sources.unstored(true), [("desk".to_owned(), at(8))]);
        sources.merge_stored([("desk".to_owned(), at(9)), ("unknown".to_owned(), at(9))].into());
        assert_eq!(sources.unstored(true), [], "another server has a later time");
        assert_eq!(sources.reports()[0].last_heard, Some(at(9)));
    }
}
