use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Datelike, SecondsFormat, TimeDelta, Timelike, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time in UTC with a resolution of one millisecond, like every time in the interface. Displayed and serialized as
/// `2016-12-19T13:53:52.274Z`. Stored times have the same resolution, so a response contains exactly the stored time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

/// Why a text is not a [`Timestamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTimestamp {
    /// The format is wrong.
    #[error("must be a time as YYYY-MM-DDTHH:mm:ss with an offset of Z, +HHmm or +HH:mm")]
    Malformed,
    /// The plus sign of the offset was sent unencoded in an address, and arrived as a space.
    #[error("has a blank where the offset's sign should be: encode + as %2B")]
    UnencodedPlus,
}

impl Timestamp {
    /// The last representable time.
    pub const LAST: Self = Self(DateTime::<Utc>::MAX_UTC);

    /// The start of 1970.
    pub const EPOCH: Self = Self(DateTime::UNIX_EPOCH);

    /// Parses `YYYY-MM-DDTHH:mm:ss`, an optional fraction of a second, and an offset of `Z`, `+0700`, `+07:00` or `+07` (ISO
    /// 8601). Seconds may be omitted, as Java does for full minutes.
    ///
    /// # Errors
    ///
    /// [`InvalidTimestamp::UnencodedPlus`] if there is a space instead of the offset's sign, otherwise
    /// [`InvalidTimestamp::Malformed`].
    pub fn parse(text: &str) -> Result<Self, InvalidTimestamp> {
        // chrono alone would also accept years with more or fewer digits, spaces and signs.
        const SHAPE: &[u8; 16] = b"0000-00-00T00:00";
        const SECONDS: &[u8; 3] = b":00";
        let byte_matches = |byte: u8, shape: u8| match shape {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        };
        let matches_pattern = |text: &str, shape: &[u8]| {
            text.bytes().zip(shape).all(|(byte, shape)| byte_matches(byte, *shape))
        };
        let Some((minute, rest)) =
            text.split_at_checked(SHAPE.len()).filter(|(minute, _)| matches_pattern(minute, SHAPE))
        else {
            return Err(InvalidTimestamp::Malformed);
        };
        let (seconds, rest) = match rest.split_at_checked(SECONDS.len()) {
            Some((seconds, rest)) if matches_pattern(seconds, SECONDS) => (seconds, rest),
            _ if rest.starts_with('.') => return Err(InvalidTimestamp::Malformed),
            _ => (":00", rest),
        };
        if rest.contains(' ') {
            return Err(InvalidTimestamp::UnencodedPlus);
        }
        let (fraction, offset) = match rest.find(['Z', '+', '-', '\u{2212}']) {
            Some(at) => rest.split_at(at),
            None => return Err(InvalidTimestamp::Malformed),
        };
        let minutes = match offset.as_bytes() {
            [b'Z'] => "+0000",
            [_, tens, units] if tens.is_ascii_digit() && units.is_ascii_digit() => &format!("{offset}00"),
            _ => offset,
        };
        let text = format!("{minute}{seconds}{fraction}{minutes}");
        DateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%.f%z")
            .map(|moment| Self::from(moment.to_utc()))
            .ok()
            // The offset, or a leap second, can produce a year that does not have four digits.
            .filter(|moment| (1..=9999).contains(&moment.0.year()))
            .ok_or(InvalidTimestamp::Malformed)
    }

    /// Creates a time from milliseconds since 1970; `None` if `chrono` cannot represent the time.
    #[must_use]
    pub fn from_millis(millis: i64) -> Option<Self> {
        DateTime::from_timestamp_millis(millis).map(Self)
    }

    /// Returns the start of its hour (UTC).
    #[must_use]
    pub fn floor_to_hour(self) -> Self {
        self.floor(Duration::from_hours(1))
    }

    /// Rounds down to a multiple of `step` since 1970; unchanged if the step is shorter than a millisecond.
    #[must_use]
    pub fn floor(self, step: Duration) -> Self {
        let millis = self.0.timestamp_millis();
        let past = i64::try_from(step.as_millis()).ok().and_then(|step| millis.checked_rem_euclid(step));
        past.and_then(|past| Self::from_millis(millis - past)).unwrap_or(self)
    }

    /// Adds a duration; saturates at the last representable time.
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        TimeDelta::from_std(duration)
            .ok()
            .and_then(|delta| self.0.checked_add_signed(delta))
            .map_or(Self::LAST, Self::from)
    }

    /// Subtracts a duration; saturates at the first representable time.
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        TimeDelta::from_std(duration)
            .ok()
            .and_then(|delta| self.0.checked_sub_signed(delta))
            .map_or(Self(DateTime::<Utc>::MIN_UTC), Self::from)
    }

    /// Returns the duration since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        self.0.signed_duration_since(earlier.0).to_std().unwrap_or_default()
    }

    /// Formats the time of a gauge reading: `2016-12-09T04:00:00+00:00`, with a fraction of a second only if there is one.
    #[must_use]
    pub(crate) fn with_offset(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::AutoSi, false)
    }

    /// Returns the time as a `chrono` value.
    #[must_use]
    pub fn to_utc(self) -> DateTime<Utc> {
        self.0
    }
}

impl From<DateTime<Utc>> for Timestamp {
    /// Truncates to milliseconds. A leap second becomes the first second after it.
    fn from(moment: DateTime<Utc>) -> Self {
        Self::from_millis(moment.timestamp_millis()).unwrap_or(Self(moment))
    }
}

struct Text([u8; FORM.len()]);

const FORM: &[u8; 24] = b"0000-00-00T00:00:00.000Z";

impl Text {
    /// Formats a time; `None` if the year does not have four digits. Ten times as fast as `chrono`.
    fn new(moment: DateTime<Utc>) -> Option<Self> {
        let (date, time) = (moment.date_naive(), moment.time());
        let year = u32::try_from(date.year()).ok().filter(|year| *year <= 9999)?;
        let mut text = *FORM;
        let mut put_digits = |number: u32, end: usize, digits: usize| {
            let mut rest = number;
            for digit in text[end - digits..end].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
        };
        put_digits(year, 4, 4);
        put_digits(date.month(), 7, 2);
        put_digits(date.day(), 10, 2);
        put_digits(time.hour(), 13, 2);
        put_digits(time.minute(), 16, 2);
        put_digits(time.second(), 19, 2);
        put_digits(time.nanosecond() / 1_000_000, 23, 3);
        Some(Self(text))
    }

    fn as_str(&self) -> Option<&str> {
        str::from_utf8(&self.0).ok()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Text::new(self.0).as_ref().and_then(Text::as_str) {
            Some(text) => f.write_str(text),
            None => f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true)),
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match Text::new(self.0).as_ref().and_then(Text::as_str) {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_accepts_every_documented_offset_and_a_fraction() {
        let expected = "2017-06-06T17:00:00.000Z";
        for text in [
            "2017-06-07T00:00:00+0700",
            "2017-06-06T12:00:00-05:00",
            "2017-06-06T17:00:00.000999Z",
            "2017-06-06T17:00Z",
            "2017-06-07T00:00+07",
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn a_time_without_offset_or_in_another_format_is_malformed() {
        for text in [
            "2017-06-07",
            "2017-06-07T00Z",
            "2017-06-07T00:00:Z",
            "2017-06-07 00:00:00Z",
            "2017-02-30T00:00:00Z",
            "2017-06-07T24:00:00Z",
            "12017-06-07T00:00:00Z",
            "2017-06-07T00:00:00+7",
            "2017-06-07T00:00:00Z+0700",
            "2017-06-07T00:00:00+99:99",
            "２017-06-07T00:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(text), Err(InvalidTimestamp::Malformed), "{text:?}");
        }
    }

    #[test]
    fn a_space_instead_of_the_sign_is_an_unencoded_plus() {
        for unencoded in ["2017-06-07T00:00:00 0700", "2017-06-07T00:00 07"] {
            assert_eq!(Timestamp::parse(unencoded), Err(InvalidTimestamp::UnencodedPlus), "{unencoded}");
        }
    }

    #[test]
    fn early_years_and_leap_seconds_are_accepted_within_four_digit_years() {
        for (text, shown, hour) in [
            ("1600-01-01T10:30:00.1239Z", "1600-01-01T10:30:00.123Z", "1600-01-01T10:00:00.000Z"),
            ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.500Z", "2017-01-01T00:00:00.000Z"),
        ] {
            let moment = Timestamp::parse(text).unwrap();
            assert_eq!(
                (moment.to_string().as_str(), moment.floor_to_hour().to_string().as_str()),
                (shown, hour)
            );
        }
        for beyond in [
            "0000-06-01T00:00:00Z",
            "0001-01-01T00:00:00+0700",
            "9999-12-31T23:30:00-0700",
            "9999-12-31T23:59:60Z",
        ] {
            assert_eq!(Timestamp::parse(beyond), Err(InvalidTimestamp::Malformed), "{beyond}");
        }
    }

    #[test]
    fn arithmetic_saturates() {
        let end = Timestamp::EPOCH.saturating_add(Duration::MAX);
        assert_eq!(end.saturating_add(Duration::from_secs(1)), end);
        let beginning = Timestamp::EPOCH.saturating_sub(Duration::MAX);
        assert_eq!(beginning.saturating_sub(Duration::from_secs(1)), beginning);
    }

    proptest! {
        #[test]
        fn every_time_is_formatted_as_by_chrono(
            millis in prop_oneof![any::<i64>(), -62_200_000_000_000..253_500_000_000_000i64],
        ) {
            if let Some(moment) = Timestamp::from_millis(millis) {
                let expected = moment.0.to_rfc3339_opts(SecondsFormat::Millis, true);
                prop_assert_eq!(moment.to_string(), expected.as_str());
                prop_assert_eq!(serde_json::to_string(&moment).unwrap(), format!("\"{expected}\""));
            }
        }
    }
}
