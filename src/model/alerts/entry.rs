use super::CONFIRMED_FOR;
use crate::model::{FloodState, StateChange, Timestamp};

/// An entry of the log of one area, with the beginning of its run.
///
/// A store keeps the beginning with each entry, because finding it would mean reading all entries of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When the state was set or cleared.
    pub at: Timestamp,
    /// The state; `None` is a clearing.
    pub state: Option<FloodState>,
    /// When the first entry of its run was made.
    pub run: Timestamp,
}

impl Entry {
    /// Returns the change that made the entry.
    #[must_use]
    pub fn change(self) -> StateChange {
        StateChange { state: self.state, at: self.at }
    }

    /// Returns the entry of a change that follows another entry of the same area.
    #[must_use]
    pub fn of(change: StateChange, previous: Option<&Self>) -> Self {
        let StateChange { state, at } = change;
        let continued = previous.filter(|entry| entry.state == state && at.since(entry.at) <= CONFIRMED_FOR);
        Self { at, state, run: continued.map_or(at, |entry| entry.run) }
    }
}

/// Returns the entries of the log of one area, which must ascend in time. If several changes have the same time, the last
/// one counts.
#[must_use]
pub fn entries(log: impl IntoIterator<Item = StateChange>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for change in log {
        entries.pop_if(|last| last.at == change.at);
        let entry = Entry::of(change, entries.last());
        entries.push(entry);
    }
    entries
}
