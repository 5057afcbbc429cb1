use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::State;
use crate::model::Timestamp;

/// The states that all clients without a credential get until the next tick, so that shared caches hold few cursors.
#[derive(Debug, Default)]
pub(super) struct Ticks(Mutex<Option<Tick>>);

#[derive(Debug)]
struct Tick {
    tick: Timestamp,
    state: Arc<State>,
}

impl Ticks {
    /// Returns the states of the present tick, and the time until the next one. The first call in a tick takes the `current`
    /// states for all of it. Ticks are at the same times on all servers.
    pub(super) fn states(
        &self,
        now: Timestamp,
        every: Duration,
        current: &Arc<State>,
    ) -> (Arc<State>, Duration) {
        let tick = now.floor(every);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Not those of another epoch, nor of changes that the database has lost.
        let is_past = |state: &State| {
            let (own, of) = (state.cursor(), current.cursor());
            own.epoch == of.epoch && !current.is_behind(own)
        };
        let state = match &*held {
            Some(held) if held.tick == tick && is_past(&held.state) => Arc::clone(&held.state),
            _ => {
                *held = Some(Tick { tick, state: Arc::clone(current) });
                Arc::clone(current)
            }
        };
        (state, tick.after(every).since(now))
    }
}
