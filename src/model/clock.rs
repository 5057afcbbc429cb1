use std::fmt;
use std::sync::{Mutex, PoisonError};

use chrono::Utc;

use super::Timestamp;

/// A source of the time.
///
/// Everything that needs the time gets a clock when it is created, so that tests can set the time.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Returns the current time.
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

/// A clock that stands still until it is set, for tests.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// Returns a clock that stands at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    /// Sets the clock, forwards or backwards.
    pub fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
