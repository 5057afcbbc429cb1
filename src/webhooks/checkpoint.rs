use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::event::{Ack, Entry};
use crate::config::EventKind;
use crate::model::{ReportKey, Timestamp};

/// Progress of a webhook, stored as JSON. The names in `serde(rename)` are the names in stored checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Checkpoint {
    /// Kind of the events. Missing in checkpoints of earlier versions.
    #[serde(rename = "on", skip_serializing_if = "Option::is_none")]
    pub(super) event: Option<EventKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<u64>,
    /// Keys of reports that the receiver has not accepted, although it has accepted later reports.
    #[serde(rename = "aside", skip_serializing_if = "BTreeSet::is_empty")]
    deferred: BTreeSet<u64>,
    /// The marks of the list entries that were sent, by key.
    #[serde(rename = "told", skip_serializing_if = "Option::is_none")]
    marks: Option<BTreeMap<String, String>>,
    /// The flood changes that were sent. Set by `seek` and by earlier versions; `initialize` replaces it with `marks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Watermark>,
    /// Silent sources whose events were sent. Only in checkpoints of earlier versions; `read` merges them into `marks`.
    #[serde(skip_serializing)]
    silent: Option<BTreeSet<String>>,
    /// Time of the oldest event that the receiver has not accepted, in milliseconds since 1970.
    #[serde(rename = "waiting", skip_serializing_if = "Option::is_none")]
    waiting_since: Option<i64>,
    pub(crate) off: bool,
}

/// All changes before `at` were sent. Of the changes at `at` itself, only those of `areas` were sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Watermark {
    at: i64,
    areas: Vec<u64>,
}

impl Checkpoint {
    /// Parses stored JSON. Invalid JSON counts as no checkpoint.
    pub(super) fn read(text: &str) -> Self {
        let mut checkpoint: Self = serde_json::from_str(text).unwrap_or_default();
        if let Some(silent) = checkpoint.silent.take() {
            let marks = silent.into_iter().map(|name| (name, String::new()));
            checkpoint.marks.get_or_insert_default().extend(marks);
        }
        checkpoint
    }

    pub(super) fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    pub(crate) fn waiting_since(&self) -> Option<Timestamp> {
        Timestamp::from_millis(self.waiting_since?)
    }

    pub(super) fn set_waiting_since(&mut self, since: Option<Timestamp>) {
        self.waiting_since = since.map(millis);
    }

    pub(super) fn is_initialized(&self, kind: EventKind) -> bool {
        let is_set = if kind == EventKind::Report { self.report.is_some() } else { self.marks.is_some() };
        is_set && self.event.is_none_or(|event| event == kind)
    }

    /// Starts after the last report, or marks the list entries as sent. If there is a watermark, marks only the entries up to it.
    pub(super) fn initialize(&mut self, kind: EventKind, last: Option<ReportKey>, entries: &[Entry]) {
        let is_sent = |entry: &&Entry| {
            self.changes.as_ref().is_none_or(|Watermark { at, areas }| {
                let changed = millis(entry.at);
                changed < *at || changed == *at && areas.iter().any(|area| area.to_string() == entry.key)
            })
        };
        let sent_marks = entries.iter().filter(is_sent);
        let sent_marks = sent_marks.filter_map(|entry| Some((entry.key.clone(), entry.mark.clone()?)));
        let marks = (kind != EventKind::Report).then(|| sent_marks.collect());
        let report = (kind == EventKind::Report).then(|| last.map_or(1, |last| last.number() + 1));
        *self = Self {
            event: Some(kind),
            report,
            marks,
            waiting_since: self.waiting_since,
            off: self.off,
            ..Self::default()
        };
    }

    /// Continues at a report, or with the changes from a time on. Entries of all other lists are sent again.
    pub(super) fn seek(&mut self, kind: EventKind, first: Option<ReportKey>, at: Timestamp) {
        match kind {
            EventKind::Report => {
                (self.report, self.deferred) = (first.map(ReportKey::number), BTreeSet::new());
            }
            EventKind::State => {
                (self.changes, self.marks) = (Some(Watermark { at: millis(at), areas: Vec::new() }), None);
            }
            EventKind::Alert | EventKind::Attention | EventKind::Source | EventKind::Gauge => {
                self.marks = Some(BTreeMap::new());
            }
        }
    }

    pub(super) fn next_report(&self) -> Option<ReportKey> {
        ReportKey::try_from(self.report?).ok()
    }

    /// Returns the deferred reports, oldest first.
    pub(super) fn deferred_reports(&self) -> impl Iterator<Item = ReportKey> {
        self.deferred.iter().filter_map(|key| ReportKey::try_from(*key).ok())
    }

    /// Defers a report that the receiver has not accepted, while later ones are sent.
    pub(super) fn defer(&mut self, report: ReportKey) {
        self.deferred.insert(report.number());
    }

    pub(super) fn contains(&self, entry: &Entry) -> bool {
        self.marks.as_ref().and_then(|marks| marks.get(&entry.key)) == entry.mark.as_ref()
    }

    /// Returns the keys of marks whose entries are no longer `present`. The `None` with each key removes the mark.
    pub(super) fn removals(&self, present: &[Entry]) -> Vec<(String, Option<String>)> {
        let present: BTreeSet<_> = present.iter().map(|entry| &entry.key).collect();
        let keys = self.marks.iter().flatten().map(|(key, _)| key);
        keys.filter(|key| !present.contains(key)).map(|key| (key.clone(), None)).collect()
    }

    /// Moves past the report, or sets and removes the marks of the entries.
    pub(super) fn acknowledge(&mut self, ack: &Ack) {
        match ack {
            Ack::Report(key) => {
                self.deferred.remove(&key.number());
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
    fn changes_sent_by_an_earlier_version_are_not_sent_again() {
        let mut checkpoint = Checkpoint::read(r#"{"changes":{"at":7,"areas":[2,1]},"off":false}"#);
        assert!(!checkpoint.is_initialized(EventKind::State));
        let entries = [entry(1, 7), entry(2, 7), entry(3, 7), entry(4, 6), entry(5, 8)];
        checkpoint.initialize(EventKind::State, None, &entries);
        assert_eq!(entries.map(|entry| checkpoint.contains(&entry)), [true, true, false, true, false]);
        assert_eq!(Checkpoint::read(&checkpoint.text()), checkpoint);
    }

    #[test]
    fn reads_every_format_stored_by_earlier_versions() {
        let stored = r#"{"on":"report","report":41,"aside":[7,12],"waiting":5,"off":true}"#;
        let reports = Checkpoint::read(stored);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&reports.text()), value(stored));
        assert!(reports.is_initialized(EventKind::Report) && reports.off);
        assert_eq!(reports.next_report().map(ReportKey::number), Some(41));
        assert_eq!(reports.deferred_reports().map(ReportKey::number).collect::<Vec<_>>(), [7, 12]);
        assert_eq!(reports.waiting_since(), Timestamp::from_millis(5));

        let list = Checkpoint::read(r#"{"told":{"10":"8","9":""},"off":false}"#);
        for kind in [EventKind::State, EventKind::Alert, EventKind::Attention] {
            assert!(list.is_initialized(kind));
        }
        assert!(
            list.contains(&entry(10, 8)) && !list.contains(&entry(10, 9)) && !list.contains(&entry(9, 1))
        );

        let sources = Checkpoint::read(r#"{"silent":["river"],"off":false}"#);
        assert!(sources.is_initialized(EventKind::Source));
        let source = |name: &str, mark| {
            let mut source = entry(0, 0);
            (source.key, source.mark) = (name.to_owned(), mark);
            source
        };
        assert!(
            sources.contains(&source("river", Some(String::new())))
                && !sources.contains(&source("river", None))
        );
        assert!(
            !sources.contains(&source("desk", Some(String::new())))
                && sources.contains(&source("desk", None))
        );
        assert_eq!(Checkpoint::read(&sources.text()), sources);

        assert_eq!(Checkpoint::read("not JSON"), Checkpoint::default());
    }

    #[test]
    fn a_changed_event_kind_needs_a_new_checkpoint() {
        let mut checkpoint = Checkpoint::default();
        checkpoint.initialize(EventKind::Alert, None, &[entry(1, 7)]);
        assert!(checkpoint.is_initialized(EventKind::Alert) && !checkpoint.is_initialized(EventKind::State));
    }
}
