use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::State;
use crate::model::Timestamp;

/// The states that all clients without a credential get until the next tick, so that shared caches store few cursors.
#[derive(Debug, Default)]
pub(super) struct Ticks(Mutex<Option<Tick>>);

#[derive(Debug)]
struct Tick {
    start: Timestamp,
    state: Arc<State>,
}

impl Ticks {
    /// Returns the states of the current tick, and the time until the next one. The first call in a tick fixes the `current`
    /// states for the whole tick. Ticks are at the same times on all servers.
    pub(super) fn states(
        &self,
        now: Timestamp,
        every: Duration,
        current: &Arc<State>,
    ) -> (Arc<State>, Duration) {
        let tick = now.floor(every);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // States are invalid if they have another epoch, or changes that the database has lost.
        let is_valid = |state: &State| {
            let (cursor, newest) = (state.cursor(), current.cursor());
            cursor.epoch == newest.epoch && !current.is_behind(cursor)
        };
        let state = match &*last {
            Some(last) if last.start == tick && is_valid(&last.state) => Arc::clone(&last.state),
            _ => {
                *last = Some(Tick { start: tick, state: Arc::clone(current) });
                Arc::clone(current)
            }
        };
        (state, tick.saturating_add(every).saturating_duration_since(now))
    }
}
