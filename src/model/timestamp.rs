use std::fmt;
use std::time::Duration;

use chrono::{DateTime, DurationRound, SecondsFormat, TimeDelta, Utc};
use serde::{Serialize, Serializer};

/// A moment in UTC with a resolution of one millisecond, the resolution of every time the interface shows.
///
/// Displayed and serialized as the interface writes it: `2016-12-19T13:53:52.274Z`. Because nothing
/// finer is ever kept, a moment read from an answer and sent back names the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// The start of the hour (UTC) this moment lies in.
    #[must_use]
    pub fn hour(self) -> Self {
        Self(self.0.duration_trunc(TimeDelta::hours(1)).unwrap_or(self.0))
    }

    /// This moment plus `duration`, or the last representable moment when that lies beyond it.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        TimeDelta::from_std(duration)
            .ok()
            .and_then(|delta| self.0.checked_add_signed(delta))
            .map_or(Self(DateTime::<Utc>::MAX_UTC), Self::from)
    }

    /// This moment minus `duration`, or the first representable moment when that lies before it.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        TimeDelta::from_std(duration)
            .ok()
            .and_then(|delta| self.0.checked_sub_signed(delta))
            .map_or(Self(DateTime::<Utc>::MIN_UTC), Self::from)
    }

    /// The same moment as a `chrono` value.
    #[must_use]
    pub fn to_utc(self) -> DateTime<Utc> {
        self.0
    }
}

impl From<DateTime<Utc>> for Timestamp {
    /// Drops whatever is finer than a millisecond.
    fn from(moment: DateTime<Utc>) -> Self {
        Self(moment.duration_trunc(TimeDelta::milliseconds(1)).unwrap_or(moment))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Timestamp {
        DateTime::parse_from_rfc3339(text).unwrap().to_utc().into()
    }

    #[test]
    fn a_moment_is_written_in_utc_with_milliseconds() {
        assert_eq!(moment("2016-12-19T20:53:52.2749+07:00").to_string(), "2016-12-19T13:53:52.274Z");
        assert_eq!(moment("2016-12-19T13:00:00Z").to_string(), "2016-12-19T13:00:00.000Z");
    }

    #[test]
    fn the_hour_of_a_moment_before_1970_is_not_the_next_one() {
        assert_eq!(moment("1969-12-31T23:59:59Z").hour(), moment("1969-12-31T23:00:00Z"));
    }

    #[test]
    fn arithmetic_stops_at_the_ends_of_time() {
        let end = moment("2020-01-01T00:00:00Z").after(Duration::MAX);
        assert_eq!(end.after(Duration::from_secs(1)), end);
        let beginning = moment("2020-01-01T00:00:00Z").before(Duration::MAX);
        assert_eq!(beginning.before(Duration::from_secs(1)), beginning);
    }
}
