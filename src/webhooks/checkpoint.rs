use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::event::{Ack, Entry};
use crate::config::EventKind;
use crate::model::{ReportKey, Timestamp};

/// How far a call has come. The store keeps it as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Checkpoint {
    /// The kind of its events. Earlier versions did not store it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) on: Option<EventKind>,
    /// The key of the next report.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<u64>,
    /// The keys of earlier reports that the receiver has not taken, though it has taken later ones.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    aside: BTreeSet<u64>,
    /// The marks of the entries of a list that were sent, by their keys.
    #[serde(rename = "told", skip_serializing_if = "Option::is_none")]
    marks: Option<BTreeMap<String, String>>,
    /// Up to when changes of flood states are done, until there are marks of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Watermark>,
    /// The silent sources that were sent, as earlier versions kept them.
    #[serde(skip_serializing)]
    silent: Option<BTreeSet<String>>,
    /// The time of the oldest event that the receiver has not taken, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<i64>,
    /// Whether the receiver has switched the call off.
    pub(crate) off: bool,
}

/// A time up to which changes are done: all before it, and those of some areas at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Watermark {
    /// In milliseconds since 1970.
    at: i64,
    areas: Vec<u64>,
}

impl Checkpoint {
    /// Reads what the store keeps. Something else counts as nothing.
    pub(super) fn read(text: &str) -> Self {
        let mut checkpoint: Self = serde_json::from_str(text).unwrap_or_default();
        if let Some(silent) = checkpoint.silent.take() {
            let sent = silent.into_iter().map(|name| (name, String::new()));
            checkpoint.marks.get_or_insert_default().extend(sent);
        }
        checkpoint
    }

    pub(super) fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Returns the time of the oldest event that the receiver has not taken, as far as it is known.
    pub(crate) fn waiting(&self) -> Option<Timestamp> {
        Timestamp::from_millis(self.waiting?)
    }

    pub(super) fn wait(&mut self, since: Option<Timestamp>) {
        self.waiting = since.map(millis);
    }

    /// Returns whether the checkpoint has been initialised for this kind of event.
    pub(super) fn has_begun(&self, kind: EventKind) -> bool {
        let is_set = if kind == EventKind::Report { self.report.is_some() } else { self.marks.is_some() };
        is_set && self.on.is_none_or(|on| on == kind)
    }

    /// Begins after the last report, or with the entries of a list that are not sent.
    pub(super) fn begin(&mut self, kind: EventKind, last: Option<ReportKey>, entries: &[Entry]) {
        let is_done = |entry: &&Entry| {
            self.changes.as_ref().is_none_or(|Watermark { at, areas }| {
                let of_entry = millis(entry.at);
                of_entry < *at || of_entry == *at && areas.iter().any(|area| area.to_string() == entry.key)
            })
        };
        let done = entries.iter().filter(is_done);
        let done = done.filter_map(|entry| Some((entry.key.clone(), entry.mark.clone()?)));
        let marks = (kind != EventKind::Report).then(|| done.collect());
        let report = (kind == EventKind::Report).then(|| last.map_or(1, |last| last.number() + 1));
        *self =
            Self { on: Some(kind), report, marks, waiting: self.waiting, off: self.off, ..Self::default() };
    }

    /// Goes on at a report, or with changes from a time on; of other lists, everything is sent again.
    pub(super) fn go_to(&mut self, kind: EventKind, first: Option<ReportKey>, at: Timestamp) {
        match kind {
            EventKind::Report => (self.report, self.aside) = (first.map(ReportKey::number), BTreeSet::new()),
            EventKind::State => {
                (self.changes, self.marks) = (Some(Watermark { at: millis(at), areas: Vec::new() }), None);
            }
            EventKind::Alert | EventKind::Attention | EventKind::Source => self.marks = Some(BTreeMap::new()),
        }
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

    /// Returns whether an entry of a list was sent.
    pub(super) fn has(&self, entry: &Entry) -> bool {
        self.marks.as_ref().and_then(|marks| marks.get(&entry.key)) == entry.mark.as_ref()
    }

    /// Returns what removes the marks of entries that have left a list.
    pub(super) fn without(&self, present: &[Entry]) -> Vec<(String, Option<String>)> {
        let present: BTreeSet<_> = present.iter().map(|entry| &entry.key).collect();
        let keys = self.marks.iter().flatten().map(|(key, _)| key);
        keys.filter(|key| !present.contains(key)).map(|key| (key.clone(), None)).collect()
    }

    /// Goes on after something that is done.
    pub(super) fn acknowledge(&mut self, ack: &Ack) {
        match ack {
            Ack::Report(key) => {
                self.aside.remove(&key.number());
                self.report = self.report.max(Some(key.number() + 1));
            }
            Ack::Entries(entries) => {
                let marks = self.marks.get_or_insert_default();
                for (key, mark) in entries {
                    match mark {
                        Some(mark) => drop(marks.insert(key.clone(), mark.clone())),
                        None => drop(marks.remove(key)),
                    }
                }
            }
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

    fn entry(area: u64, time: i64) -> Entry {
        let at = Timestamp::from_millis(time).unwrap();
        Entry::area(area, time.to_string(), at, Map::new())
    }

    #[test]
    fn changes_that_an_earlier_version_has_sent_are_not_sent_again() {
        let mut checkpoint = Checkpoint::read(r#"{"changes":{"at":7,"areas":[2,1]},"off":false}"#);
        assert!(!checkpoint.has_begun(EventKind::State));
        let entries = [entry(1, 7), entry(2, 7), entry(3, 7), entry(4, 6), entry(5, 8)];
        checkpoint.begin(EventKind::State, None, &entries);
        assert_eq!(entries.map(|entry| checkpoint.has(&entry)), [true, true, false, true, false]);
        assert_eq!(Checkpoint::read(&checkpoint.text()), checkpoint);
    }

    #[test]
    fn each_form_that_earlier_versions_have_stored_is_read() {
        let reports = Checkpoint::read(r#"{"report":41,"aside":[7,12],"waiting":5,"off":true}"#);
        assert!(reports.has_begun(EventKind::Report) && reports.off);
        assert_eq!(reports.next_report().map(ReportKey::number), Some(41));
        assert_eq!(reports.reports_aside().map(ReportKey::number).collect::<Vec<_>>(), [7, 12]);
        assert_eq!(reports.waiting(), Timestamp::from_millis(5));

        let list = Checkpoint::read(r#"{"told":{"10":"8","9":""},"off":false}"#);
        for kind in [EventKind::State, EventKind::Alert, EventKind::Attention] {
            assert!(list.has_begun(kind));
        }
        assert!(list.has(&entry(10, 8)) && !list.has(&entry(10, 9)) && !list.has(&entry(9, 1)));

        let sources = Checkpoint::read(r#"{"silent":["river"],"off":false}"#);
        assert!(sources.has_begun(EventKind::Source));
        let source = |name: &str, mark| {
            let mut source = entry(0, 0);
            (source.key, source.mark) = (name.to_owned(), mark);
            source
        };
        assert!(sources.has(&source("river", Some(String::new()))) && !sources.has(&source("river", None)));
        assert!(!sources.has(&source("desk", Some(String::new()))) && sources.has(&source("desk", None)));
        assert_eq!(Checkpoint::read(&sources.text()), sources);

        assert_eq!(Checkpoint::read("not JSON"), Checkpoint::default());
    }

    #[test]
    fn a_call_that_sends_something_else_begins_anew() {
        let mut checkpoint = Checkpoint::default();
        checkpoint.begin(EventKind::Alert, None, &[entry(1, 7)]);
        assert!(checkpoint.has_begun(EventKind::Alert) && !checkpoint.has_begun(EventKind::State));
    }
}
