use std::fmt;
use std::iter;
use std::time::Duration;

use chrono::{Datelike, NaiveDate, NaiveTime};

use crate::model::Timestamp;

/// A month in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Month(NaiveDate);

impl Month {
    /// Parses a month such as `2026-01`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let first = NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d").ok()?;
        Some(Self(first)).filter(|month| month.to_string() == text)
    }

    pub(crate) fn containing(time: Timestamp) -> Self {
        let day = time.to_utc().date_naive();
        Self(day.with_day(1).unwrap_or(day))
    }

    pub(crate) fn start(self) -> Timestamp {
        self.0.and_time(NaiveTime::MIN).and_utc().into()
    }

    pub(crate) fn end(self) -> Timestamp {
        self.next().start().saturating_sub(Duration::from_millis(1))
    }

    fn next(self) -> Self {
        Self(self.0.checked_add_months(chrono::Months::new(1)).unwrap_or(self.0))
    }

    pub(crate) fn previous(self) -> Self {
        Self(self.0.checked_sub_months(chrono::Months::new(1)).unwrap_or(self.0))
    }

    /// Returns the months from this one to `last`, both included.
    pub(crate) fn until(self, last: Self) -> impl Iterator<Item = Self> {
        iter::successors(Some(self), |month| Some(month.next())).take_while(move |month| *month <= last)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.0.year(), self.0.month())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_parses_its_own_text_and_ends_before_the_next() {
        let month = Month::parse("2025-12").unwrap();
        assert_eq!(month.to_string(), "2025-12");
        assert_eq!(month.start().to_string(), "2025-12-01T00:00:00.000Z");
        assert_eq!(month.end().to_string(), "2025-12-31T23:59:59.999Z");
        assert_eq!(Month::containing(month.end()), month);
        let names: Vec<_> =
            month.until(Month::parse("2026-02").unwrap()).map(|month| month.to_string()).collect();
        assert_eq!(names, ["2025-12", "2026-01", "2026-02"]);
        for wrong in ["2025-13", "2025-00", "2025-1", "25-01", "2025-01-01", "+2025-01", "2025-1-", "..", ""]
        {
            assert_eq!(Month::parse(wrong), None, "{wrong}");
        }
    }
}
