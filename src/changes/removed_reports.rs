use crate::model::{ModerationAction, ModerationEntry, ReportKey};
use crate::stores::{Revision, Versioned};

/// The reports that moderators have hidden or erased, each with the revision of reports at which this server read of the removal.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemovedReports {
    reports: Vec<(ReportKey, Revision)>,
    last: u64,
    /// The list is complete for cursors at this revision of reports or later.
    first: Revision,
}

impl RemovedReports {
    /// The maximum number of remembered reports, and of log entries that are read at once.
    pub(crate) const MAX: u32 = 1_000;

    #[must_use]
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Adds the log entries after [`last`](Self::last). `log` has up to [`MAX`](Self::MAX) of them, newest first.
    #[must_use]
    pub(crate) fn next(&self, log: &Versioned<Vec<ModerationEntry>>) -> Self {
        let mut next = self.clone();
        next.last = log.value.first().map_or(self.last, |newest| newest.number);
        if log.value.len() >= Self::MAX as usize {
            next.first = log.revision;
        }
        for entry in log.value.iter().rev() {
            next.reports.retain(|(report, _)| *report != entry.report);
            if entry.action != ModerationAction::Show {
                next.reports.push((entry.report, log.revision));
            }
        }
        let excess = next.reports.len().saturating_sub(Self::MAX as usize);
        for (_, read) in next.reports.drain(..excess) {
            next.first = next.first.max(read);
        }
        next
    }

    /// Whether `since` returns all reports that were removed after a revision.
    #[must_use]
    pub(crate) fn is_complete_since(&self, revision: Revision) -> bool {
        revision >= self.first
    }

    pub(crate) fn since(&self, revision: Revision) -> impl Iterator<Item = ReportKey> + '_ {
        self.reports.iter().filter(move |(_, read)| *read > revision).map(|(report, _)| *report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Actor, Timestamp};

    fn entry(number: u64, report: u64, action: ModerationAction) -> ModerationEntry {
        let at = Timestamp::parse("2017-01-01T00:00:00Z").unwrap();
        let by = Actor { subject: "moderator".to_owned(), username: None };
        let report = report.try_into().unwrap();
        ModerationEntry { number, at, report, made_at: at, action, by, reason: "spam".to_owned() }
    }

    fn removed(reports: &RemovedReports, since: u64) -> Vec<u64> {
        reports.since(Revision(since)).map(ReportKey::number).collect()
    }

    #[test]
    fn a_report_is_removed_until_it_is_shown_again() {
        let hidden = [entry(2, 6, ModerationAction::Erase), entry(1, 5, ModerationAction::Hide)];
        let first = RemovedReports::default().next(&Versioned::new(Revision(10), hidden.to_vec()));
        assert_eq!((removed(&first, 9), removed(&first, 10), first.last()), (vec![5, 6], vec![], 2));
        let shown = vec![entry(3, 5, ModerationAction::Show)];
        let second = first.next(&Versioned::new(Revision(12), shown));
        assert_eq!((removed(&second, 9), removed(&second, 11)), (vec![6], vec![]));
    }

    #[test]
    fn a_cursor_before_the_oldest_known_report_is_too_old() {
        let hide = |number| entry(number, number, ModerationAction::Hide);
        let all = |from: u64, count: u64| (from..from + count).rev().map(hide).collect::<Vec<_>>();
        let few = RemovedReports::default().next(&Versioned::new(Revision(10), all(1, 999)));
        assert!(few.is_complete_since(Revision(0)), "all entries were read");
        let more = few.next(&Versioned::new(Revision(20), all(1_000, 2)));
        assert_eq!(removed(&more, 0).len(), 1_000);
        assert!(!more.is_complete_since(Revision(9)) && more.is_complete_since(Revision(10)));
        let many = RemovedReports::default().next(&Versioned::new(Revision(10), all(1, 1_000)));
        assert!(!many.is_complete_since(Revision(9)), "the log may have more");
    }
}
