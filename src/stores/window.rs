use std::time::Duration;

use crate::model::{Period, Timestamp, Validity};

/// A span of time to query. No window includes the future: items dated after now appear at their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// From this long ago until now.
    Last(Duration),
    /// A period, up to now.
    Within(Period),
}

impl Window {
    /// Returns the first and the last moment of the window at `now`, both included. The last one can be before the first one.
    #[must_use]
    pub fn bounds(self, now: Timestamp) -> (Timestamp, Timestamp) {
        match self {
            Self::Last(duration) => (now.saturating_sub(duration), now),
            Self::Within(period) => (period.start(), period.end().min(now)),
        }
    }

    /// Returns how long a result about this window is valid, if it was read at `now`.
    ///
    /// `oldest` is the oldest item of the result, which leaves a moving window first. `next` is the first item dated after the
    /// window's last moment at `now`; if it is taken from a larger set of items than the result, the validity can only be
    /// shorter. A result about the past stays valid, unless the clock steps back.
    #[must_use]
    pub fn validity(self, now: Timestamp, oldest: Option<Timestamp>, next: Option<Timestamp>) -> Validity {
        /// A window includes its last moment, so an item is outside from the next millisecond on.
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
