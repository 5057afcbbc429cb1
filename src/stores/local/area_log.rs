use std::sync::Arc;
use std::time::Duration;

use imbl::Vector;

use crate::model::alerts::LogEntry;
use crate::model::{Actor, AreaId, FloodChange, FloodStatus, Period, StateChange, Timestamp};

/// The changes of one area, oldest first. The state of an entry is in effect until the next entry. Clones share their common
/// parts. Adding an entry costs O(log n).
#[derive(Clone, Debug, Default)]
pub(super) struct AreaLog(Vector<StoredEntry>);

/// An entry of the log. As small as possible, so that a search touches little memory.
#[derive(Clone, Debug)]
struct StoredEntry {
    entry: LogEntry,
    by: Arc<Actor>,
}

impl StoredEntry {
    fn change(&self, area: AreaId) -> FloodChange {
        let LogEntry { state, at, received, .. } = self.entry;
        FloodChange { area, state, at, received, by: Actor::clone(&self.by) }
    }
}

impl AreaLog {
    /// Adds a change, which must not be earlier than the last one. `undone` is the time of the change that this one undoes, if
    /// any: the new entry then restores the times from before that change.
    pub(super) fn push(&mut self, change: FloodChange, undone: Option<Timestamp>) {
        let previous = self.0.last().map(|logged| &logged.entry);
        let (state_change, received) = (change.change(), change.received);
        let entry = match undone {
            Some(undone) => {
                LogEntry::restoring(state_change, received, self.entry_before(undone).as_ref(), previous)
            }
            None => LogEntry::following(state_change, received, previous),
        };
        self.0.push_back(StoredEntry { entry, by: Arc::new(change.by) });
    }

    /// Marks the change at `at` as the undo of the change at `undone`, and recomputes the times of all entries from `at` on.
    pub(super) fn restore(&mut self, area: AreaId, at: Timestamp, undone: Timestamp) {
        let later = self.0.split_off(self.count_until(at.saturating_sub(Duration::from_millis(1))));
        for logged in later {
            let change = logged.change(area);
            let undone = (change.at == at).then_some(undone);
            self.push(change, undone);
        }
    }

    fn entry_before(&self, moment: Timestamp) -> Option<LogEntry> {
        let index = self.count_until(moment.saturating_sub(Duration::from_millis(1))).checked_sub(1)?;
        self.0.get(index).map(|logged| logged.entry)
    }

    pub(super) fn status(&self) -> FloodStatus {
        self.0.last().map_or(FloodStatus::NEVER_FLOODED, |logged| logged.entry.status())
    }

    pub(super) fn last(&self) -> Option<StateChange> {
        self.0.last().map(|logged| logged.entry.change())
    }

    /// Returns the change in effect when a period starts, and all later ones until it ends. Costs O(log n + number of changes).
    pub(super) fn changes_within(&self, period: &Period) -> impl Iterator<Item = StateChange> {
        let first = self.count_until(period.start()).saturating_sub(1);
        let end = period.end();
        let from = self.0.focus().narrow(first..).into_iter();
        from.map(|logged| logged.entry.change()).take_while(move |change| change.at <= end)
    }

    /// Returns the entries within a span of time, both ends included. Costs O(log n + number of entries).
    pub(super) fn entries(&self, from: Timestamp, until: Timestamp) -> impl Iterator<Item = LogEntry> {
        let start = self.count_until(from.saturating_sub(Duration::from_millis(1)));
        let entries = self.0.focus().narrow(start..).into_iter();
        entries.map(|logged| logged.entry).take_while(move |entry| entry.at <= until)
    }

    /// Counts the entries within a span of time, both ends included. Costs O(log n).
    pub(super) fn count(&self, from: Timestamp, until: Timestamp) -> usize {
        if self.0.last().is_none_or(|last| last.entry.at < from) {
            return 0;
        }
        self.count_until(until)
            .saturating_sub(self.count_until(from.saturating_sub(Duration::from_millis(1))))
    }

    pub(super) fn changes(&self, area: AreaId) -> impl Iterator<Item = FloodChange> {
        self.0.iter().map(move |logged| logged.change(area))
    }

    /// Returns at most `max` entries before a moment, newest first. Costs O(log n + number of entries).
    pub(super) fn latest(
        &self,
        area: AreaId,
        before: Option<Timestamp>,
        max: usize,
    ) -> impl Iterator<Item = FloodChange> {
        let end = before
            .map_or(self.0.len(), |before| self.count_until(before.saturating_sub(Duration::from_millis(1))));
        let entries = self.0.focus().narrow(end.saturating_sub(max)..end).into_iter();
        entries.rev().map(move |logged| logged.change(area))
    }

    /// Returns the number of entries at or before the moment.
    fn count_until(&self, moment: Timestamp) -> usize {
        // Most queries are about the present: then all entries count, and no search is needed.
        if self.0.last().is_none_or(|last| last.entry.at <= moment) {
            return self.0.len();
        }
        let mut log = self.0.focus();
        let (mut low, mut high) = (0, log.len());
        while low < high {
            let middle = low.midpoint(high);
            if log.index(middle).entry.at <= moment {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(minute: u64) -> Timestamp {
        Timestamp::parse("2017-01-01T00:00:00Z").unwrap().saturating_add(Duration::from_mins(minute))
    }

    proptest! {
        #[test]
        fn a_period_begins_with_the_change_in_effect_at_its_start(
            mut minutes in prop::collection::vec(0..100_u64, 0..200),
            start in 0..110_u64,
            length in 0..50_u64,
        ) {
            minutes.sort_unstable();
            let mut log = AreaLog::default();
            let by = Actor { subject: "test".to_owned(), username: None };
            for (number, &minute) in minutes.iter().enumerate() {
                let state = u64::try_from(number % 5).unwrap().try_into().ok();
                let (area, at) = (1.try_into().unwrap(), at(minute));
                log.push(FloodChange { area, state, at, received: at, by: by.clone() }, None);
            }
            let all: Vec<StateChange> =
                log.changes(1.try_into().unwrap()).map(|change| change.change()).collect();
            prop_assert_eq!(all.len(), minutes.len());
            let first = all.iter().rposition(|change| change.at <= at(start)).unwrap_or(0);
            let naive: Vec<_> =
                all[first..].iter().copied().filter(|change| change.at <= at(start + length)).collect();
            let period = Period::new(at(start), at(start + length), Duration::MAX).unwrap();
            prop_assert_eq!(log.changes_within(&period).collect::<Vec<_>>(), naive);
        }
    }
}
