use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// The kinds of data that a source can be configured to deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoveredData {
    /// Flood states, and everything derived from them.
    Floods,
    /// Reports.
    Reports,
    /// Gauges and their readings.
    Gauges,
}

impl CoveredData {
    /// All kinds of data.
    pub const ALL: [Self; 3] = [Self::Floods, Self::Reports, Self::Gauges];
}

/// A source is silent after this many intervals without a report.
const SILENT_AFTER: u32 = 3;

/// Whether a source reports as often as expected. The worst status is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceStatus {
    /// Reported within its interval.
    Ok,
    /// The last report is more than one interval and at most three intervals old.
    Late,
    /// The last report is more than three intervals old, or the source never reported.
    Silent,
}

impl SourceStatus {
    /// All statuses, best first.
    pub const ALL: [Self; 3] = [Self::Ok, Self::Late, Self::Silent];

    /// Returns the status of a source that should report at least once in every interval `every`.
    #[must_use]
    pub fn from_last_heard(last_heard: Option<Timestamp>, every: Duration, now: Timestamp) -> Self {
        let age = last_heard.map(|heard| now.saturating_duration_since(heard));
        match age {
            Some(age) if age <= every => Self::Ok,
            Some(age) if age <= every.saturating_mul(SILENT_AFTER) => Self::Late,
            _ => Self::Silent,
        }
    }

    /// Returns the name in responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Late => "late",
            Self::Silent => "silent",
        }
    }
}
