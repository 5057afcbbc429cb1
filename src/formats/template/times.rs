use std::fmt::Write;

use chrono::DateTime;
use chrono_tz::Tz;
use minijinja::{Error, ErrorKind, State};

use crate::model::Timestamp;

pub(super) fn date(
    state: &State<'_, '_>,
    time: &str,
    format: &str,
    zone: Option<&str>,
) -> Result<String, Error> {
    let mut text = String::new();
    // Writing to a `String` fails only for an unknown conversion.
    match write!(text, "{}", local(state, time, zone)?.format(format)) {
        Ok(()) => Ok(text),
        Err(_) => Err(invalid_operation(format!(
            "{format:?} is no format of a time, such as \"%d %b %Y %H:%M %Z\""
        ))),
    }
}

/// Implements the filter `rfc3339`: `2016-12-19T20:53:52+07:00`.
pub(super) fn rfc3339(state: &State<'_, '_>, time: &str, zone: Option<&str>) -> Result<String, Error> {
    date(state, time, "%Y-%m-%dT%H:%M:%S%:z", zone)
}

/// Implements the filter `rfc822`, for times in RSS: `Mon, 19 Dec 2016 20:53:52 +0700`.
pub(super) fn rfc822(state: &State<'_, '_>, time: &str, zone: Option<&str>) -> Result<String, Error> {
    date(state, time, "%a, %d %b %Y %H:%M:%S %z", zone)
}

/// Returns the time in `zone`, or in the configured time zone if `zone` is `None`.
fn local(state: &State<'_, '_>, time: &str, zone: Option<&str>) -> Result<DateTime<Tz>, Error> {
    let configured = state.lookup("time_zone");
    let zone = zone.or_else(|| configured.as_ref()?.as_str()).unwrap_or_default();
    let zone: Tz = zone
        .parse()
        .map_err(|_| invalid_operation(format!("{zone:?} is no time zone, such as Asia/Jakarta")))?;
    let time = Timestamp::parse(time).map_err(|error| invalid_operation(format!("{time:?} {error}")))?;
    Ok(time.to_utc().with_timezone(&zone))
}

fn invalid_operation(text: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, text)
}
