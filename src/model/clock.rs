use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use chrono::Utc;

use super::Timestamp;

/// A source of the time. Passed to everything that needs the time, so that tests can set it.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Returns the current time. It goes back when the clock is set back.
    fn now(&self) -> Timestamp;

    /// Returns a time that never goes back, to measure durations. **Default: [`Instant::now`]**
    fn monotonic(&self) -> Instant {
        Instant::now()
    }
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Utc::now().into()
    }
}

/// A clock for tests, which stands still until it is set.
#[derive(Debug)]
pub struct ManualClock(Mutex<(Timestamp, Instant)>);

impl ManualClock {
    /// Creates a clock that shows `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(Mutex::new((now, Instant::now())))
    }

    /// Sets the clock, forwards or backwards. The monotonic time advances by steps forwards.
    pub fn set(&self, now: Timestamp) {
        let mut times = self.times();
        let (last, monotonic) = *times;
        *times = (now, monotonic + now.saturating_duration_since(last));
    }

    fn times(&self) -> MutexGuard<'_, (Timestamp, Instant)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.times().0
    }

    fn monotonic(&self) -> Instant {
        self.times().1
    }
}
