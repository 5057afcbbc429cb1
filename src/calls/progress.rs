use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::event::Passed;
use super::lists::Listed;
use crate::config::EventKind;
use crate::model::{ReportKey, Timestamp};

/// How far a call has come. The store keeps it as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Progress {
    /// The key of the next report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) report: Option<u64>,
    /// The keys of earlier reports that the receiver has not taken, though it has taken later ones.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    aside: BTreeSet<u64>,
    /// Up to when changes of flood states were passed, until there are marks of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Moment>,
    /// The marks of what was told of a list, by area.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) told: Option<BTreeMap<u64, String>>,
    /// The sources that were told to be silent.
    #[serde(skip_serializing_if = "Option::is_none")]
    silent: Option<BTreeSet<String>>,
    /// The time of the oldest event that the receiver has not taken, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<i64>,
    /// Whether the receiver has switched the call off.
    pub(super) off: bool,
}

/// A time up to which all changes were passed: all before it, and those of some areas at it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Moment {
    /// In milliseconds since 1970.
    at: i64,
    areas: Vec<u64>,
}

impl Moment {
    /// Returns a time at which no change was passed.
    pub(super) fn new(at: Timestamp) -> Self {
        Self { at: millis(at), areas: Vec::new() }
    }

    /// Returns whether a change of an area was passed.
    fn has_passed(&self, at: Timestamp, area: u64) -> bool {
        let at = millis(at);
        at < self.at || at == self.at && self.areas.contains(&area)
    }
}

impl Progress {
    /// Reads what the store keeps. Something else counts as nothing.
    pub(super) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Returns the time of the oldest event that the receiver has not taken, as far as it is known.
    pub(crate) fn waiting(&self) -> Option<Timestamp> {
        Timestamp::from_millis(self.waiting?)
    }

    /// Returns whether the receiver has switched the call off.
    pub(crate) fn is_off(&self) -> bool {
        self.off
    }

    pub(super) fn wait(&mut self, since: Option<Timestamp>) {
        self.waiting = since.map(millis);
    }

    /// Returns whether it is that of a call with such events.
    pub(super) fn has_begun(&self, kind: EventKind) -> bool {
        match kind {
            EventKind::Report => self.report.is_some(),
            EventKind::State | EventKind::Alert | EventKind::Attention => self.told.is_some(),
            EventKind::Source => self.silent.is_some(),
        }
    }

    /// Begins after the last report, or with the present list.
    pub(super) fn begin(&mut self, kind: EventKind, last: Option<ReportKey>, listed: &[Listed]) {
        match kind {
            EventKind::Report => self.report = Some(last.map_or(1, |last| last.number() + 1)),
            EventKind::State | EventKind::Alert | EventKind::Attention => {
                let before = self.changes.take();
                let has_passed =
                    |of: &&Listed| before.as_ref().is_none_or(|moment| moment.has_passed(of.at, of.area));
                let passed = listed.iter().filter(has_passed);
                self.told = Some(passed.map(|of| (of.area, of.mark.clone())).collect());
            }
            EventKind::Source => self.silent = Some(BTreeSet::new()),
        }
    }

    /// Returns whether a source was told to be silent.
    pub(super) fn is_silent(&self, source: &str) -> bool {
        self.silent.as_ref().is_some_and(|silent| silent.contains(source))
    }

    /// Goes on at a report, or with changes from a time on.
    pub(super) fn go_to(&mut self, kind: EventKind, first: Option<ReportKey>, at: Timestamp) {
        match kind {
            EventKind::Report => (self.report, self.aside) = (first.map(ReportKey::number), BTreeSet::new()),
            EventKind::State => (self.changes, self.told) = (Some(Moment::new(at)), None),
            EventKind::Alert | EventKind::Attention => self.told = Some(BTreeMap::new()),
            EventKind::Source => self.silent = Some(BTreeSet::new()),
        }
    }

    /// Switches the call on again.
    pub(crate) fn resume(&mut self) {
        self.off = false;
    }

    /// Returns the key of the next report.
    pub(super) fn next_report(&self) -> Option<ReportKey> {
        ReportKey::try_from(self.report?).ok()
    }

    /// Returns the keys of the reports that were set aside, the oldest first.
    pub(super) fn reports_aside(&self) -> impl Iterator<Item = ReportKey> {
        self.aside.iter().filter_map(|key| ReportKey::try_from(*key).ok())
    }

    /// Remembers a report that the receiver has not taken, while the call goes on to later ones.
    pub(super) fn set_aside(&mut self, report: ReportKey) {
        self.aside.insert(report.number());
    }

    /// Goes on after something.
    pub(super) fn pass(&mut self, passed: &Passed) {
        match passed {
            Passed::Report(key) => {
                self.aside.remove(&key.number());
                self.report = self.report.max(Some(key.number() + 1));
            }
            Passed::Listed(marks) => {
                let told = self.told.get_or_insert_default();
                for (area, mark) in marks {
                    match mark {
                        Some(mark) => drop(told.insert(*area, mark.clone())),
                        None => drop(told.remove(area)),
                    }
                }
            }
            Passed::Source(name, true) => drop(self.silent.get_or_insert_default().insert(name.clone())),
            Passed::Source(name, false) => drop(self.silent.get_or_insert_default().remove(name)),
        }
    }
}

fn millis(at: Timestamp) -> i64 {
    at.to_utc().timestamp_millis()
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    #[test]
    fn what_an_earlier_version_has_passed_is_not_told_again() {
        let kept = r#"{"changes":{"at":7,"areas":[2,1]},"off":false}"#;
        let mut progress = Progress::read(kept);
        assert!(!progress.has_begun(EventKind::State));
        let listed = |area, time| Listed { area, mark: format!("{time}"), at: at(time), values: Map::new() };
        let listed = [listed(1, 7), listed(2, 7), listed(3, 7), listed(4, 6), listed(5, 8)];
        progress.begin(EventKind::State, None, &listed);
        let told: Vec<_> = progress.told.clone().unwrap().into_keys().collect();
        assert_eq!(told, [1, 2, 4]);
        assert_eq!(Progress::read(&progress.text()), progress);
        assert_eq!(Progress::read("not JSON"), Progress::default());
    }
}
