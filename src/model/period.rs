use std::time::Duration;

use chrono::DateTime;

use super::Timestamp;

/// A span of time, both ends included; the end never lies before the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    start: Timestamp,
    end: Timestamp,
}

/// Why two texts are no [`Period`]. Every variant names the parameter at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPeriod {
    /// A moment is not written as the interface wants it.
    #[error("must be a time as YYYY-MM-DDTHH:mm:ss with an offset of Z, +HHmm or +HH:mm")]
    Malformed,
    /// The plus sign of the offset was sent unencoded and arrived as a blank.
    #[error("has a blank where the offset's sign should be: encode + as %2B")]
    UnencodedPlus,
    /// The end lies before the start.
    #[error("must not be before \"start\"")]
    EndBeforeStart,
    /// The period is longer than the service allows.
    #[error("must be at most {} after \"start\"", humantime::format_duration(*.0))]
    TooLong(Duration),
}

impl Period {
    /// The period from `start` to `end`.
    ///
    /// # Errors
    ///
    /// When the end lies before the start or more than `longest` after it.
    pub fn new(start: Timestamp, end: Timestamp, longest: Duration) -> Result<Self, InvalidPeriod> {
        if end < start {
            Err(InvalidPeriod::EndBeforeStart)
        } else if end > start.after(longest) {
            Err(InvalidPeriod::TooLong(longest))
        } else {
            Ok(Self { start, end })
        }
    }

    /// Reads a moment as the interface takes it: `YYYY-MM-DDTHH:mm:ss`, an optional fraction of a second,
    /// and an offset of `Z`, `+0700` or `+07:00` (ISO 8601).
    ///
    /// # Errors
    ///
    /// [`InvalidPeriod::UnencodedPlus`] when a blank stands where the sign of the offset should be,
    /// [`InvalidPeriod::Malformed`] for anything else.
    pub fn parse_moment(text: &str) -> Result<Timestamp, InvalidPeriod> {
        // chrono alone would also take years of other lengths, blanks and signs.
        const SHAPE: &[u8; 19] = b"0000-00-00T00:00:00";
        let written = |byte: u8, shape: u8| match shape {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        };
        let Some((date_time, rest)) = text.split_at_checked(SHAPE.len()) else {
            return Err(InvalidPeriod::Malformed);
        };
        if !date_time.bytes().zip(*SHAPE).all(|(byte, shape)| written(byte, shape)) {
            return Err(InvalidPeriod::Malformed);
        }
        if rest.contains(' ') {
            return Err(InvalidPeriod::UnencodedPlus);
        }
        let text = match rest.strip_suffix('Z') {
            Some(fraction) => format!("{date_time}{fraction}+0000"),
            None => text.to_owned(),
        };
        DateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%.f%z")
            .map(|moment| moment.to_utc().into())
            .map_err(|_| InvalidPeriod::Malformed)
    }

    /// The first moment.
    #[must_use]
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// The last moment.
    #[must_use]
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// The whole hours (UTC) from the one `start` lies in to the one `end` lies in, ascending.
    pub fn hours(&self) -> impl Iterator<Item = Timestamp> + use<> {
        const HOUR: Duration = Duration::from_hours(1);
        let last = self.end.hour();
        std::iter::successors(Some(self.start.hour()), |hour| Some(hour.after(HOUR)))
            .take_while(move |hour| *hour <= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YEAR: Duration = Duration::from_hours(8784);

    fn moment(text: &str) -> Timestamp {
        Period::parse_moment(text).unwrap()
    }

    #[test]
    fn a_moment_takes_every_documented_offset_and_a_fraction() {
        let expected = "2017-06-06T17:00:00.000Z";
        for text in [
            "2017-06-07T00:00:00+0700",
            "2017-06-07T00:00:00+07:00",
            "2017-06-06T17:00:00Z",
            "2017-06-06T12:00:00-0500",
            "2017-06-06T17:00:00.000999Z",
        ] {
            assert_eq!(moment(text).to_string(), expected, "{text}");
        }
    }

    #[test]
    fn a_moment_without_offset_or_of_another_shape_is_malformed() {
        for text in [
            "",
            "now",
            "2017-06-07",
            "2017-06-07T00:00:00",
            "2017-06-07T00:00Z",
            "2017-06-07 00:00:00Z",
            "2017-13-07T00:00:00Z",
            "2017-02-30T00:00:00Z",
            "2017-06-07T24:00:00Z",
            "12017-06-07T00:00:00Z",
            "2017-06-07T00:00:00+7",
            "2017-06-07T00:00:00ZZ",
            "2017-06-07T00:00:00Z+0700",
            "2017-06-07T00:00:00.Z+0700",
            "2017-06-07T00:00:00+99:99",
            "２017-06-07T00:00:00Z",
        ] {
            assert_eq!(Period::parse_moment(text), Err(InvalidPeriod::Malformed), "{text:?}");
        }
    }

    #[test]
    fn a_blank_before_the_offset_is_told_apart() {
        let unencoded = Period::parse_moment("2017-06-07T00:00:00 0700");
        assert_eq!(unencoded, Err(InvalidPeriod::UnencodedPlus));
    }

    #[test]
    fn a_period_is_bounded_and_runs_forwards() {
        let (start, end) = (moment("2017-01-01T00:00:00Z"), moment("2018-01-02T00:00:00Z"));
        assert!(Period::new(start, end, YEAR).is_ok());
        assert_eq!(Period::new(end, start, YEAR), Err(InvalidPeriod::EndBeforeStart));
        let beyond = end.after(Duration::from_millis(1));
        assert_eq!(Period::new(start, beyond, YEAR), Err(InvalidPeriod::TooLong(YEAR)));
        assert!(InvalidPeriod::TooLong(Duration::from_hours(8784)).to_string().contains("after"));
    }

    #[test]
    fn the_hours_of_a_period_include_those_both_ends_lie_in() {
        let period = Period::new(moment("2017-01-01T10:59:59Z"), moment("2017-01-01T12:00:00Z"), YEAR);
        let hours: Vec<String> = period.unwrap().hours().map(|hour| hour.to_string()).collect();
        assert_eq!(
            hours,
            ["2017-01-01T10:00:00.000Z", "2017-01-01T11:00:00.000Z", "2017-01-01T12:00:00.000Z"]
        );
    }
}
