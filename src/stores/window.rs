use std::time::Duration;

use crate::model::{Period, Timestamp, Validity};

/// A span of time to query. No window includes the future: an item with a future date becomes visible only at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// From this long ago until now.
    Last(Duration),
    /// The part of a period that is not in the future.
    Within(Period),
}

impl Window {
    /// Returns the first and last moment of the window at `now`, both included. For a future period, the last precedes the first.
    #[must_use]
    pub fn bounds(self, now: Timestamp) -> (Timestamp, Timestamp) {
        match self {
            Self::Last(duration) => (now.saturating_sub(duration), now),
            Self::Within(period) => (period.start(), period.end().min(now)),
        }
    }

    /// Returns how long a result about this window stays valid if it was read at `now` and the data does not change.
    ///
    /// `oldest` is the time of the oldest item in the result, because that item leaves a moving window first. `next` is the time
    /// of the first item after the window's last moment. If the query does not select that item, the validity is only shorter
    /// than necessary. A result about the past stays valid, unless the clock steps back.
    #[must_use]
    pub fn validity(self, now: Timestamp, oldest: Option<Timestamp>, next: Option<Timestamp>) -> Validity {
        /// An item at the window's first moment is still inside, so it leaves the window one millisecond later.
        const NEXT: Duration = Duration::from_millis(1);
        let (from, change) = match self {
            Self::Last(duration) => {
                let leaves = oldest.map(|oldest| oldest.saturating_add(duration).saturating_add(NEXT));
                (now, leaves.into_iter().chain(next).min())
            }
            Self::Within(period) => (now.min(period.end()), next.filter(|next| *next <= period.end())),
        };
        Validity::Between { from, until: change.unwrap_or(Timestamp::LAST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_longer_than_time_is_never_left() {
        let at = |minute: u64| Timestamp::EPOCH.saturating_add(Duration::from_mins(minute));
        let ever = Window::Last(Duration::MAX).validity(at(30), Some(at(10)), None);
        assert_eq!(ever, Validity::Between { from: at(30), until: Timestamp::LAST });
    }
}
