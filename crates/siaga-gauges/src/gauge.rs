use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the configuration says about a gauge.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GaugeSettings {
    /// The identifier in Siaga.
    pub(crate) r#as: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) location: Option<Location>,
    /// The levels in centimetres at or above which an alert level holds.
    #[serde(default)]
    pub(crate) thresholds: BTreeMap<AlertLevel, f64>,
}

/// The alert levels above normal, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AlertLevel {
    Critical,
    Alert,
    Watch,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Location {
    pub(crate) lat: f64,
    pub(crate) lng: f64,
}

impl Location {
    /// Whether Siaga accepts it: in degrees, and not 0, 0.
    pub(crate) fn is_valid(&self) -> bool {
        self.lat.abs() <= 90.0 && self.lng.abs() <= 180.0 && (self.lat, self.lng) != (0.0, 0.0)
    }
}

/// What is known of a gauge while the program runs.
#[derive(Debug, Default)]
pub(crate) struct GaugeState {
    pub(crate) name: Option<String>,
    pub(crate) location: Option<Location>,
    /// The time of the newest reading that Siaga accepted or rejected.
    pub(crate) sent: Option<i64>,
    /// The levels to send, in centimetres, by time in milliseconds since 1970.
    pub(crate) pending: BTreeMap<i64, f64>,
}
