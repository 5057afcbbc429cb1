//! The time formats of CAP and Atom.

use chrono::{DateTime, Datelike, Utc};

/// Parses `YYYY-MM-DDThh:mm:ss` and an offset such as `+07:00`, without fraction and `Z` (CAP 1.2 §3.3.2). As in the schema, leap
/// seconds are invalid, and an offset is at most 14 hours.
pub(super) fn cap(text: &str) -> Option<DateTime<Utc>> {
    let (date_time, offset) = text.split_at_checked(19)?;
    let is_allowed = is_offset(offset) && offset.get(1..)? <= "14:00" && !date_time.ends_with("60");
    if is_allowed { moment(text) } else { None }
}

/// Parses a time of RFC 3339, which may have a fraction and `Z`.
pub(super) fn rfc3339(text: &str) -> Option<DateTime<Utc>> {
    let (_, rest) = text.split_at_checked(19)?;
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    if offset == "Z" || is_offset(offset) { moment(text) } else { None }
}

/// Parses a time that has a year of four digits, and a `T` before the hour.
fn moment(text: &str) -> Option<DateTime<Utc>> {
    let moment = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
    let has_t = text.as_bytes().get(10) == Some(&b'T');
    (has_t && (1..=9999).contains(&moment.year())).then_some(moment)
}

fn is_offset(text: &str) -> bool {
    match text.as_bytes() {
        [b'+' | b'-', hours @ .., b':', m1, m2] if hours.len() == 2 => {
            hours.iter().chain([m1, m2]).all(u8::is_ascii_digit)
        }
        _ => false,
    }
}
