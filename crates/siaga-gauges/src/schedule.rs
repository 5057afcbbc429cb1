use std::time::Duration;

use chrono::{DateTime, Utc};

/// The pause after the first failure. It doubles with each further one.
const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_mins(10);
const LONGEST_RETRY_AFTER: Duration = Duration::from_hours(1);

/// When something is due again.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    since: DateTime<Utc>,
    length: Duration,
    failures: u32,
}

impl Schedule {
    /// Returns the time until it is due: zero if the clock has been set back, because the length then has no meaning.
    pub(crate) fn wait(&self, now: DateTime<Utc>) -> Duration {
        (now - self.since).to_std().map_or(Duration::ZERO, |passed| self.length.saturating_sub(passed))
    }

    pub(crate) fn succeeded(&mut self, now: DateTime<Utc>, every: Duration) {
        *self = Self { since: now, length: every, failures: 0 };
    }

    /// Returns the pause: 10 seconds, doubled up to 10 minutes, or what the server asks for, up to an hour.
    pub(crate) fn failed(&mut self, now: DateTime<Utc>, retry_after: Option<Duration>) -> Duration {
        let pause = LONGEST.min(FIRST * 2_u32.pow(self.failures.min(6)));
        let length = pause.max(retry_after.unwrap_or_default().min(LONGEST_RETRY_AFTER));
        *self = Self { since: now, length, failures: self.failures + 1 };
        length
    }
}
