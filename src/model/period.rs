use std::time::Duration;

use super::Timestamp;
use crate::model::duration::format_duration;

/// A span of time, both ends included. The end is never before the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period {
    start: Timestamp,
    end: Timestamp,
}

/// Why two times are not a [`Period`]. All variants concern the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPeriod {
    /// The end is before the start.
    #[error("must not be before \"start\"")]
    EndBeforeStart,
    /// The period is too long.
    #[error("must be at most {} after \"start\"", format_duration(*.0))]
    TooLong(Duration),
}

impl Period {
    /// Creates the period from `start` to `end`.
    ///
    /// # Errors
    ///
    /// If the end is before the start, or more than `longest` after it.
    pub fn new(start: Timestamp, end: Timestamp, longest: Duration) -> Result<Self, InvalidPeriod> {
        if end < start {
            Err(InvalidPeriod::EndBeforeStart)
        } else if end > start.saturating_add(longest) {
            Err(InvalidPeriod::TooLong(longest))
        } else {
            Ok(Self { start, end })
        }
    }

    /// Returns the start.
    #[must_use]
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// Returns the end.
    #[must_use]
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// Returns the length.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.end.saturating_duration_since(self.start)
    }

    #[must_use]
    pub(crate) fn whole_hours(&self) -> Self {
        const REST: Duration = Duration::from_millis(3_599_999);
        Self { start: self.start.floor_to_hour(), end: self.end.floor_to_hour().saturating_add(REST) }
    }

    /// Returns the start of each hour (UTC) in the period, ascending, from the hour of `start` to the hour of `end`.
    pub fn hours(&self) -> impl Iterator<Item = Timestamp> + use<> {
        const HOUR: Duration = Duration::from_hours(1);
        let last = self.end.floor_to_hour();
        std::iter::successors(Some(self.start.floor_to_hour()), |hour| Some(hour.saturating_add(HOUR)))
            .take_while(move |hour| *hour <= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_bounded_and_runs_forwards() {
        const YEAR: Duration = Duration::from_hours(8784);
        let (start, end) = (Timestamp::EPOCH, Timestamp::EPOCH.saturating_add(YEAR));
        assert!(Period::new(start, end, YEAR).is_ok());
        assert_eq!(Period::new(end, start, YEAR), Err(InvalidPeriod::EndBeforeStart));
        let beyond = end.saturating_add(Duration::from_millis(1));
        assert_eq!(Period::new(start, beyond, YEAR), Err(InvalidPeriod::TooLong(YEAR)));
    }
}
