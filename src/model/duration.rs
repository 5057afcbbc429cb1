//! Durations in the configuration: `10s`, `6h`, `366d`, or a plain number of seconds. For `#[serde(with)]`.

use std::fmt;
use std::time::Duration;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

pub(crate) fn seconds_rounded_up(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

pub(crate) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_duration(*duration))
}

/// Formats a duration in the largest unit in which it is a whole number: `366d`, `90m`, `250ms`.
pub(crate) fn format_duration(duration: Duration) -> String {
    const UNITS: [(&str, u128); 7] = [
        ("d", 86_400_000_000_000),
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    let nanos = duration.as_nanos();
    let exact = UNITS.iter().find(|(_, unit)| nanos > 0 && nanos.is_multiple_of(*unit));
    exact.map_or_else(|| "0s".to_owned(), |(name, unit)| format!("{}{name}", nanos / unit))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    deserializer.deserialize_any(DurationVisitor)
}

struct DurationVisitor;

impl Visitor<'_> for DurationVisitor {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as 10s, 6h or 366d, or a number of seconds")
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Duration, E> {
        Ok(Duration::from_secs(seconds))
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Duration, E> {
        let invalid = |_| E::invalid_value(Unexpected::Signed(seconds), &self);
        seconds.try_into().map(Duration::from_secs).map_err(invalid)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        let seconds = text.parse().map(Duration::from_secs).ok();
        seconds
            .or_else(|| humantime::parse_duration(text).ok())
            .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}
