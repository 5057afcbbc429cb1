use std::time::Duration;

use crate::model::{Period, Timestamp};

/// A span of time asked about. What is dated after now is in none: it shows when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// From this long ago until now.
    Last(Duration),
    /// A period, as far as it has passed.
    Within(Period),
}

impl Window {
    /// The first and the last moment at `now`, both included; the last may lie before the first.
    #[must_use]
    pub fn bounds(self, now: Timestamp) -> (Timestamp, Timestamp) {
        match self {
            Self::Last(duration) => (now.before(duration), now),
            Self::Within(period) => (period.start(), period.end().min(now)),
        }
    }
}
