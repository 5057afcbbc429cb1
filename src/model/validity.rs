use std::time::Duration;

use super::Timestamp;

/// How long a response is valid if the revision of its resource does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// The response does not change as long as no data changes.
    Always,
    /// The response is valid from `from` until `until`, exclusive. Then it changes even if no data changes.
    Between {
        /// The first time at which the response is valid.
        from: Timestamp,
        /// The first time at which the response is not valid.
        until: Timestamp,
    },
}

impl Validity {
    /// Returns whether the response is valid at `now`.
    #[must_use]
    pub fn covers(self, now: Timestamp) -> bool {
        match self {
            Self::Always => true,
            Self::Between { from, until } => from <= now && now < until,
        }
    }

    /// Returns the validity of a response that changes at every multiple of `step` since 1970.
    #[must_use]
    pub(crate) fn step(now: Timestamp, step: Duration) -> Self {
        let from = now.floor(step);
        Self::Between { from, until: from.saturating_add(step) }
    }

    /// Returns the times at which both are valid.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always, span) | (span, Self::Always) => span,
            (Self::Between { from, until }, Self::Between { from: other_from, until: other_until }) => {
                Self::Between { from: from.max(other_from), until: until.min(other_until) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(second: u32) -> Timestamp {
        Timestamp::parse(&format!("2017-01-01T00:00:{second:02}Z")).unwrap()
    }

    fn between(from: u32, until: u32) -> Validity {
        Validity::Between { from: moment(from), until: moment(until) }
    }

    #[test]
    fn a_step_begins_at_a_whole_multiple_of_its_length() {
        let now = moment(8).saturating_add(Duration::from_millis(999));
        assert_eq!(Validity::step(now, Duration::from_secs(1)), between(8, 9));
        assert_eq!(Validity::step(now, Duration::from_secs(10)), between(0, 10));
    }

    #[test]
    fn the_intersection_is_valid_while_both_are() {
        assert_eq!(between(1, 5).and(between(3, 9)), between(3, 5));
        assert_eq!(between(1, 5).and(Validity::Always), between(1, 5));
        assert_eq!(Validity::Always.and(between(1, 5)), between(1, 5));
    }
}
