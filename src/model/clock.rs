use std::fmt;
use std::sync::{Mutex, PoisonError};

use chrono::Utc;

use super::Timestamp;

/// Where the time comes from.
///
/// Whatever needs the time is handed a clock when it is made, so that tests decide what time it is.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Utc::now().into()
    }
}

/// A clock that stands still until it is moved, for tests.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// A clock standing at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    /// Sets the clock, forwards or back.
    pub fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
