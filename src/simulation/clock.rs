use std::sync::atomic::{AtomicI64, Ordering};

use rocket::tokio::time::Instant;

use crate::fixture;
use crate::model::{Clock, Timestamp};

/// A clock that follows the time of the runtime, which may be paused, and steps.
#[derive(Debug)]
pub(super) struct SteppingClock {
    pub(super) origin: Instant,
    ahead: AtomicI64,
}

impl SteppingClock {
    pub(super) fn new(origin: Instant) -> Self {
        Self { origin, ahead: AtomicI64::new(0) }
    }

    pub(super) fn step_to(&self, ahead: i64) {
        self.ahead.store(ahead, Ordering::Relaxed);
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        let millis = i64::try_from(self.origin.elapsed().as_millis()).unwrap();
        let start = fixture::now().to_utc().timestamp_millis();
        Timestamp::from_millis(start + millis + self.ahead.load(Ordering::Relaxed)).unwrap()
    }

    fn monotonic(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}
