//! The sources of the data: when each was last heard, and whether that is on time.
//!
//! Everything here is in memory, so reading it costs no query. [`tasks`](crate::tasks) exchanges it with the
//! store, and so with the other servers.

mod signs_of_life;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

pub(crate) use self::signs_of_life::SignsOfLife;
use crate::config::SourceSettings;
use crate::data::statements::Watch;
use crate::model::{Clock, CoveredData, DataState, SourceStatus, Timestamp};

/// How long after a time of a source was given to the store the next one is, at least.
const BETWEEN_WRITES: Duration = Duration::from_secs(1);

/// The configured sources, and when each was last heard. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Sources(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    configured: BTreeMap<String, SourceSettings>,
    clock: Arc<dyn Clock>,
    heard: Mutex<BTreeMap<String, Heard>>,
}

#[derive(Debug)]
struct Heard {
    at: Timestamp,
    /// The latest time that the store is known to have.
    stored: Option<Timestamp>,
    /// When this server last gave a time to the store.
    written: Option<Instant>,
}

/// A source as responses show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SourceReport {
    /// Its name.
    pub(crate) name: String,
    /// The data that it is a source of.
    pub(crate) covers: BTreeSet<CoveredData>,
    /// When it was last heard; `None` if it never was.
    pub(crate) last_heard: Option<Timestamp>,
    /// When it is expected to be heard again at the latest; `None` if it was never heard.
    pub(crate) expected_by: Option<Timestamp>,
    /// Whether it is heard as often as expected.
    pub(crate) status: SourceStatus,
}

impl Sources {
    /// Returns the configured sources, none of them heard yet. `clock` tells when they are heard.
    #[must_use]
    pub(crate) fn new(configured: BTreeMap<String, SourceSettings>, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner { configured, clock, heard: Mutex::default() }))
    }

    /// Returns whether no source is configured.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.configured.is_empty()
    }

    /// Returns the subject whose credentials are those of the source; `None` if there is no such source.
    #[must_use]
    pub(crate) fn subject(&self, name: &str) -> Option<&str> {
        self.0.configured.get(name).map(|source| source.subject.as_str())
    }

    /// Notes that a source is heard now, and returns it; `None` if there is no such source.
    #[must_use]
    pub(crate) fn hear(&self, name: &str) -> Option<SourceReport> {
        let (name, source) = self.0.configured.get_key_value(name)?;
        let now = self.0.clock.now();
        let mut heard = self.heard();
        note(&mut heard, name, now);
        Some(report(name, source, &heard, now))
    }

    /// Notes that all sources with this subject are heard now.
    pub(crate) fn hear_subject(&self, subject: &str) {
        let now = self.0.clock.now();
        for (name, _) in self.0.configured.iter().filter(|(_, source)| source.subject == subject) {
            note(&mut self.heard(), name, now);
        }
    }

    /// Returns all sources by name.
    #[must_use]
    pub(crate) fn reports(&self) -> Vec<SourceReport> {
        let (now, heard) = (self.0.clock.now(), self.heard());
        self.0.configured.iter().map(|(name, source)| report(name, source, &heard, now)).collect()
    }

    /// Returns how long ago each source was last heard, by name; `None` if it never was.
    #[must_use]
    pub(crate) fn ages(&self) -> Vec<(String, Option<Duration>, SourceStatus)> {
        let now = self.0.clock.now();
        let age = |report: SourceReport| {
            (report.name, report.last_heard.map(|heard| now.since(heard)), report.status)
        };
        self.reports().into_iter().map(age).collect()
    }

    /// Returns whether a source of this data is silent, so that data may be missing.
    #[must_use]
    pub(crate) fn is_silent(&self, data: CoveredData) -> bool {
        self.state(Some(data)).status == Some(SourceStatus::Silent)
    }

    /// Returns how current data is, by all sources that cover it.
    #[must_use]
    pub(crate) fn state(&self, data: Option<CoveredData>) -> DataState {
        let mut state = DataState::default();
        let Some(data) = data.filter(|_| !self.is_empty()) else { return state };
        let (now, heard) = (self.0.clock.now(), self.heard());
        for (name, source) in self.0.configured.iter().filter(|(_, source)| source.covers.contains(&data)) {
            let at = heard.get(name).map(|heard| heard.at);
            state.add(at, SourceStatus::from_last_heard(at, source.every, now));
        }
        state
    }

    /// Takes over the times that the store has. Names that are not configured are ignored.
    pub(crate) fn learn(&self, stored: BTreeMap<String, Timestamp>) {
        let mut heard = self.heard();
        for (name, at) in stored.into_iter().filter(|(name, _)| self.0.configured.contains_key(name)) {
            note(&mut heard, &name, at).stored = Some(at);
        }
    }

    /// Returns the times that the store does not have yet. Leaves out sources whose last time was given to the store less
    /// than a second ago, unless `all` are wanted.
    pub(crate) fn unstored(&self, all: bool) -> Vec<(String, Timestamp)> {
        let waits = |heard: &Heard| heard.written.is_some_and(|at| at.elapsed() < BETWEEN_WRITES);
        let heard = self.heard();
        let due = heard.iter().filter(|(_, heard)| heard.stored < Some(heard.at) && (all || !waits(heard)));
        due.map(|(name, heard)| (name.clone(), heard.at)).collect()
    }

    /// Notes that a time was given to the store.
    pub(crate) fn stored(&self, name: &str, at: Timestamp) {
        if let Some(heard) = self.heard().get_mut(name) {
            heard.stored = heard.stored.max(Some(at));
            heard.written = Some(Instant::now());
        }
    }

    fn heard(&self) -> MutexGuard<'_, BTreeMap<String, Heard>> {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes that a source was heard, unless it is known to have been heard later.
fn note<'h>(heard: &'h mut BTreeMap<String, Heard>, name: &str, at: Timestamp) -> &'h mut Heard {
    let known = heard.entry(name.to_owned()).or_insert(Heard { at, stored: None, written: None });
    known.at = known.at.max(at);
    known
}

/// Returns whether the sources of floods are heard, and the first that is silent.
pub(crate) fn watch(sources: &[SourceReport]) -> (Watch, Option<&SourceReport>) {
    let mut of_floods = sources.iter().filter(|of| of.covers.contains(&CoveredData::Floods)).peekable();
    if of_floods.peek().is_none() {
        return (Watch::Unwatched, None);
    }
    match of_floods.find(|of| of.status == SourceStatus::Silent) {
        Some(silent) => (Watch::Silent { heard: silent.last_heard.is_some() }, Some(silent)),
        None => (Watch::Heard, None),
    }
}

fn report(
    name: &str,
    source: &SourceSettings,
    heard: &BTreeMap<String, Heard>,
    now: Timestamp,
) -> SourceReport {
    let last_heard = heard.get(name).map(|heard| heard.at);
    SourceReport {
        name: name.to_owned(),
        covers: source.covers.clone(),
        last_heard,
        expected_by: last_heard.map(|heard| heard.after(source.every)),
        status: SourceStatus::from_last_heard(last_heard, source.every, now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ManualClock;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.after(Duration::from_secs(seconds))
    }

    #[test]
    fn a_time_goes_to_the_store_once_and_the_next_one_a_second_later_or_at_the_end() {
        let desk = SourceSettings::new("bpbd", Duration::from_mins(10));
        let clock = Arc::new(ManualClock::new(at(7)));
        let sources = Sources::new([("desk".to_owned(), desk)].into(), Arc::clone(&clock) as _);
        sources.hear_subject("another");
        assert_eq!(sources.unstored(false), []);
        sources.hear_subject("bpbd");
        assert_eq!(sources.unstored(false), [("desk".to_owned(), at(7))]);
        sources.stored("desk", at(7));
        assert_eq!(sources.unstored(true), []);
        clock.set(at(8));
        sources.hear_subject("bpbd");
        assert_eq!(sources.unstored(false), [], "the last one was given to the store just now");
        assert_eq!(sources.unstored(true), [("desk".to_owned(), at(8))]);
        sources.learn([("desk".to_owned(), at(9)), ("unknown".to_owned(), at(9))].into());
        assert_eq!(sources.unstored(true), [], "another server has heard it later");
        assert_eq!(sources.reports()[0].last_heard, Some(at(9)));
    }
}
