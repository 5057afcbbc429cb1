use std::time::Duration;

use serde::Serialize;

use crate::model::Timestamp;

/// After how many times its interval a source is silent.
const SILENT_AFTER: u32 = 3;

/// Whether a source is heard as often as expected. The worst status is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceStatus {
    /// It was heard within its interval.
    Ok,
    /// Its interval is over.
    Late,
    /// Three times its interval is over, or it was never heard.
    Silent,
}

/// How current data is, by the sources that cover it. The default is that no source does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataState {
    /// The worst status of the sources; `None` if there are none.
    pub status: Option<SourceStatus>,
    /// The time up to which all sources were heard; `None` if there are none, or if one was never heard.
    pub as_of: Option<Timestamp>,
}

impl SourceStatus {
    /// All statuses, the best first.
    pub const ALL: [Self; 3] = [Self::Ok, Self::Late, Self::Silent];

    /// Returns the status of a source that is expected once in each interval, and was last heard at a time.
    #[must_use]
    pub fn of(last_heard: Option<Timestamp>, every: Duration, now: Timestamp) -> Self {
        let age = last_heard.map(|heard| now.since(heard));
        match age {
            Some(age) if age <= every => Self::Ok,
            Some(age) if age <= every.saturating_mul(SILENT_AFTER) => Self::Late,
            _ => Self::Silent,
        }
    }

    /// Returns the status as responses show it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Late => "late",
            Self::Silent => "silent",
        }
    }
}

impl DataState {
    /// The word for data that no source covers.
    const UNKNOWN: &str = "unknown";

    /// Returns the words for all states.
    #[must_use]
    pub fn names() -> [&'static str; 4] {
        let [ok, late, silent] = SourceStatus::ALL.map(SourceStatus::name);
        [ok, late, silent, Self::UNKNOWN]
    }

    /// Returns the word for the worst status; `unknown` if no source covers the data.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.status.map_or(Self::UNKNOWN, SourceStatus::name)
    }

    /// Adds a source.
    pub fn add(&mut self, heard: Option<Timestamp>, status: SourceStatus) {
        self.as_of = if self.status.is_none() { heard } else { self.as_of.min(heard) };
        self.status = self.status.max(Some(status));
    }
}
