//! Rules for times sent with a credential.

use std::fmt;
use std::time::Duration;

use crate::model::Timestamp;

const MOST_AHEAD: Duration = Duration::from_mins(10);

const LARGEST_OFFSET: Duration = Duration::from_hours(14);

/// Returns the time to store: `sent`, but at most `arrival`. Fails if `sent` is too far in the future. For times sent without a
/// credential, [`TimeWindow`](super::TimeWindow) applies.
pub(crate) fn effective_time(sent: Timestamp, arrival: Timestamp) -> Result<Timestamp, TooFarAhead> {
    TooFarAhead::check(sent, arrival).map(|()| sent.min(arrival))
}

/// Error for a time more than [`MOST_AHEAD`] in the future. Its text follows the name of the field: `is 1 h 5 min in the future`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) struct TooFarAhead(Duration);

impl TooFarAhead {
    pub(super) fn check(sent: Timestamp, now: Timestamp) -> Result<(), Self> {
        let ahead = sent.saturating_duration_since(now);
        if ahead > MOST_AHEAD { Err(Self(ahead)) } else { Ok(()) }
    }
}

impl fmt::Display for TooFarAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.0.as_secs() / 60;
        let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
        match (days, hours) {
            (0, 0) => write!(f, "is {minutes} min in the future")?,
            (0, _) => write!(f, "is {hours} h {minutes} min in the future")?,
            _ => write!(f, "is {days} d {hours} h in the future")?,
        }
        if self.0 > LARGEST_OFFSET { Ok(()) } else { f.write_str(": is it local time written as UTC?") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_time_far_in_the_future_is_a_fault_with_the_difference() {
        let arrival = at("2016-12-19T16:00:00Z");
        for (sent, expected) in [
            ("2009-01-01T00:00:00Z", Ok("2009-01-01T00:00:00Z")),
            ("2016-12-19T16:00:00Z", Ok("2016-12-19T16:00:00Z")),
            ("2016-12-19T16:10:00Z", Ok("2016-12-19T16:00:00Z")),
            ("2016-12-19T16:10:00.001Z", Err("is 10 min in the future: is it local time written as UTC?")),
            ("2016-12-19T22:59:59Z", Err("is 6 h 59 min in the future: is it local time written as UTC?")),
            ("2016-12-20T16:30:00Z", Err("is 1 d 0 h in the future")),
            ("2099-01-01T00:00:00Z", Err("is 29962 d 8 h in the future")),
        ] {
            let counts = effective_time(at(sent), arrival).map_err(|far| far.to_string());
            assert_eq!(counts, expected.map(at).map_err(str::to_owned), "{sent}");
        }
    }
}
