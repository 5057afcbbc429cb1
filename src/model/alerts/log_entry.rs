use super::CONFIRMED_FOR;
use crate::model::{CurrentState, FloodState, FloodStatus, StateChange, Timestamp};

/// An entry in the log of an area, with times derived from earlier entries, stored because deriving them reads the whole flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// When the state was set or cleared.
    pub at: Timestamp,
    /// When the store received the change: [`FloodChange::received`](crate::model::FloodChange::received).
    pub received: Timestamp,
    /// The state; `None` if it was cleared.
    pub state: Option<FloodState>,
    /// The time of the first entry of its run: a series of entries with the same, confirmed state.
    pub run: Timestamp,
    /// When the area became flooded, or dry; `None` if it is dry and was never flooded.
    pub since: Option<Timestamp>,
    /// When the state was last set or confirmed. `None` after undoing the first entry of an area.
    pub confirmed: Option<Timestamp>,
}

impl LogEntry {
    /// Returns the change that created the entry.
    #[must_use]
    pub fn change(self) -> StateChange {
        StateChange { state: self.state, at: self.at }
    }

    /// Returns the status of the area after the entry.
    #[must_use]
    pub fn status(self) -> FloodStatus {
        match self.state {
            Some(state) => FloodStatus::Flooded(CurrentState {
                state,
                last_updated: self.at,
                flooded_since: self.since,
                confirmed: self.confirmed,
            }),
            None => FloodStatus::Dry { cleared: Some(self.at), over_since: self.since },
        }
    }

    /// Returns the entry of a change that sets, confirms or clears a state. `previous` is the area's entry before the new entry.
    #[must_use]
    pub fn following(change: StateChange, received: Timestamp, previous: Option<&Self>) -> Self {
        let since = match previous {
            Some(previous) if previous.state.is_some() == change.state.is_some() => previous.since,
            Some(_) => Some(change.at),
            None => change.state.map(|_| change.at),
        };
        Self::in_run(change, received, (since, Some(change.at)), previous)
    }

    /// Returns the entry of a change that undoes another change. `restored` is the entry before the undone change. If both have
    /// the same state, the new entry copies the times of `restored`. `previous` is the area's entry before the new entry.
    #[must_use]
    pub fn restoring(
        change: StateChange,
        received: Timestamp,
        restored: Option<&Self>,
        previous: Option<&Self>,
    ) -> Self {
        let restored = restored.filter(|entry| entry.state == change.state);
        let times = restored.map_or((None, None), |entry| (entry.since, entry.confirmed));
        Self::in_run(change, received, times, previous)
    }

    /// Continues the run of `previous` if the state was confirmed at least every [`CONFIRMED_FOR`], otherwise begins a new run.
    fn in_run(
        StateChange { state, at }: StateChange,
        received: Timestamp,
        (since, confirmed): (Option<Timestamp>, Option<Timestamp>),
        previous: Option<&Self>,
    ) -> Self {
        let is_recent = |confirmed: Option<Timestamp>| {
            confirmed.is_some_and(|confirmed| at.saturating_duration_since(confirmed) <= CONFIRMED_FOR)
        };
        let continued = previous
            .filter(|entry| entry.state == state && is_recent(entry.confirmed) && is_recent(confirmed));
        Self { at, received, state, run: continued.map_or(at, |entry| entry.run), since, confirmed }
    }
}

/// Returns the log entries of one area. Changes must be ordered by time, without undos. Of changes at one time, the last counts.
#[must_use]
pub fn entries(log: impl IntoIterator<Item = StateChange>) -> Vec<LogEntry> {
    let mut entries: Vec<LogEntry> = Vec::new();
    for change in log {
        entries.pop_if(|last| last.at == change.at);
        let entry = LogEntry::following(change, change.at, entries.last());
        entries.push(entry);
    }
    entries
}
