use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// Data that has sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoveredData {
    /// Flood states, and everything made from them.
    Floods,
    /// Reports.
    Reports,
    /// Gauges and their readings.
    Gauges,
}

impl CoveredData {
    /// All data that has sources.
    pub const ALL: [Self; 3] = [Self::Floods, Self::Reports, Self::Gauges];
}

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

impl SourceStatus {
    /// All statuses, the best first.
    pub const ALL: [Self; 3] = [Self::Ok, Self::Late, Self::Silent];

    /// Returns the status of a source that is expected once in each interval, and was last heard at a time.
    #[must_use]
    pub fn from_last_heard(last_heard: Option<Timestamp>, every: Duration, now: Timestamp) -> Self {
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
