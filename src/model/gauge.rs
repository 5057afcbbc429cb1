use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

use super::{Actor, Position, Quality, Timestamp};

/// A place where the water level is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// The identifier, such as `TMA00001`.
    pub id: String,
    /// The name, such as `Bendung Katulampa`.
    pub name: String,
    /// The province that lists the gauge. The gauge can lie in another province.
    pub region_code: Option<String>,
    /// The place.
    pub location: Position,
    /// What is known of its levels.
    pub settings: GaugeSettings,
    /// The newest entry of its log.
    pub mute: Option<Mute>,
}

/// An entry of the log of a gauge: an operator has muted it, or ended that. A muted gauge does not count as evidence of a flood. Stored
/// as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mute {
    /// When it was done.
    pub at: Timestamp,
    /// When the gauge ceases to be muted; `None` if this entry ends it.
    pub until: Option<Timestamp>,
    /// Why; empty if this entry ends it.
    pub reason: Box<str>,
    /// Who did it.
    #[serde(flatten)]
    pub by: Actor,
}

impl Mute {
    /// The maximum number of entries in the log of a gauge. The oldest one makes room for a new one.
    pub const MOST: usize = 1_000;
}

/// The thresholds of a gauge, the levels that it can measure, and its interval. Stored as JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GaugeSettings {
    /// The levels from which the water is alarming.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    /// The lowest and the highest level that the gauge can measure, in centimetres.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "range")]
    pub range: Option<[f64; 2]>,
    /// The expected time between two readings, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u32>,
}

impl GaugeSettings {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the expected time between two readings, if it is set.
    #[must_use]
    pub fn interval(&self) -> Option<Duration> {
        self.every.map(|seconds| Duration::from_secs(seconds.into()))
    }
}

/// A water level. Serialized as an integer if it has no fraction, as clients expect.
pub(crate) struct Centimetres(pub(crate) f64);

impl Serialize for Centimetres {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Up to 2⁵³, whole doubles are exact integers.
        if self.0.fract() == 0.0 && self.0.abs() < 9_007_199_254_740_992.0 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

// `serialize_with` passes a reference.
#[allow(clippy::ref_option)]
fn centimetres<S: Serializer>(level: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    level.map(Centimetres).serialize(serializer)
}

#[allow(clippy::ref_option)]
fn range<S: Serializer>(range: &Option<[f64; 2]>, serializer: S) -> Result<S::Ok, S::Error> {
    range.map(|range| range.map(Centimetres)).serialize(serializer)
}

/// The levels in centimetres from which an [`AlertLevel`] applies. Each may be missing; those present descend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawThresholds", deny_unknown_fields)]
pub struct Thresholds {
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "centimetres")]
    critical: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "centimetres")]
    alert: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "centimetres")]
    watch: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawThresholds {
    critical: Option<f64>,
    alert: Option<f64>,
    watch: Option<f64>,
}

/// Error for levels that are no [`Thresholds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must have one or more of critical, alert and watch, numbers in centimetres, critical above alert above watch"
)]
pub struct InvalidThresholds;

impl Thresholds {
    /// Creates thresholds from the levels for critical, alert and watch.
    ///
    /// # Errors
    ///
    /// If all are missing, one is not finite, or they do not descend.
    pub fn new([critical, alert, watch]: [Option<f64>; 3]) -> Result<Self, InvalidThresholds> {
        let given: Vec<f64> = [critical, alert, watch].into_iter().flatten().collect();
        let descend = given.windows(2).all(|pair| pair[0] > pair[1]);
        let is_valid = !given.is_empty() && descend && given.iter().all(|level| level.is_finite());
        if is_valid { Ok(Self { critical, alert, watch }) } else { Err(InvalidThresholds) }
    }

    /// Returns the thresholds for critical, alert and watch, in centimetres.
    #[must_use]
    pub fn levels(&self) -> [Option<f64>; 3] {
        [self.critical, self.alert, self.watch]
    }

    /// Returns the alert level of a water level: the worst one whose threshold is at or below it.
    #[must_use]
    pub fn alert_level(&self, level: f64) -> AlertLevel {
        let reached = |threshold: Option<f64>| threshold.is_some_and(|threshold| level >= threshold);
        let passed =
            AlertLevel::ALL.into_iter().zip(self.levels()).find(|(_, threshold)| reached(*threshold));
        passed.map_or(AlertLevel::Normal, |(alert, _)| alert)
    }

    /// Returns the lowest threshold.
    #[must_use]
    pub fn lowest(&self) -> f64 {
        self.levels().into_iter().flatten().fold(f64::INFINITY, f64::min)
    }
}

impl TryFrom<RawThresholds> for Thresholds {
    type Error = InvalidThresholds;

    fn try_from(raw: RawThresholds) -> Result<Self, InvalidThresholds> {
        Self::new([raw.critical, raw.alert, raw.watch])
    }
}

/// The alert level of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum AlertLevel {
    /// Level 1: the highest alarm.
    Critical = 1,
    /// Level 2.
    Alert,
    /// Level 3.
    Watch,
    /// Level 4: no alarm.
    Normal,
}

/// Error for a number that is not an [`AlertLevel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [1, 2, 3, 4]")]
pub struct InvalidAlertLevel;

impl AlertLevel {
    /// All levels, worst first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::Alert, Self::Watch, Self::Normal];

    /// Returns the number, 1 to 4.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the name that agencies use.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Critical => "SIAGA I",
            Self::Alert => "SIAGA II",
            Self::Watch => "SIAGA III",
            Self::Normal => "SIAGA IV",
        }
    }
}

impl TryFrom<u64> for AlertLevel {
    type Error = InvalidAlertLevel;

    fn try_from(number: u64) -> Result<Self, InvalidAlertLevel> {
        let level = Self::ALL.into_iter().find(|level| u64::from(level.number()) == number);
        level.ok_or(InvalidAlertLevel)
    }
}

/// A reading of a gauge.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// When the level was read. A gauge has at most one reading for each time.
    pub observed_at: Timestamp,
    /// The water level in centimetres; negative below the gauge's zero.
    pub level: f64,
    /// The alert level: the worse of the one that was reported and the one of the thresholds at that time.
    pub alert: AlertLevel,
    /// The agency's name of the level.
    pub label: Box<str>,
    /// What was reported, if it differs from `alert` and `label`.
    pub reported: Option<ReportedAlert>,
    /// How far the level can be trusted. Stores do not keep it: it follows from the level, its neighbours and the gauge.
    pub quality: Quality,
}

/// The alert level that came with a reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedAlert {
    /// The number, 1 to 4.
    pub alert: u8,
    /// The name.
    pub label: Box<str>,
}

impl Observation {
    /// Creates a reading with what was reported, and the thresholds of its gauge. `None` if there is neither.
    #[must_use]
    pub fn new(
        observed_at: Timestamp,
        level: f64,
        reported: Option<(AlertLevel, Box<str>)>,
        thresholds: Option<&Thresholds>,
    ) -> Option<Self> {
        let computed = thresholds.map(|thresholds| thresholds.alert_level(level));
        let quality = Quality::NotEvaluated;
        let reading = |alert, label, reported| Self { observed_at, level, alert, label, reported, quality };
        Some(match (reported, computed) {
            (None, None) => return None,
            (None, Some(alert)) => reading(alert, alert.label().into(), None),
            (Some((alert, label)), Some(computed)) if computed < alert => {
                let reported = ReportedAlert { alert: alert.number(), label };
                reading(computed, computed.label().into(), Some(reported))
            }
            (Some((alert, label)), _) => reading(alert, label, None),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_at_a_threshold_has_reached_it() {
        let all = Thresholds::new([Some(950.0), Some(850.0), Some(750.0)]).unwrap();
        for (level, expected) in [
            (950.0, AlertLevel::Critical),
            (949.9, AlertLevel::Alert),
            (850.0, AlertLevel::Alert),
            (750.0, AlertLevel::Watch),
            (749.9, AlertLevel::Normal),
            (-100.0, AlertLevel::Normal),
        ] {
            assert_eq!(all.alert_level(level), expected, "{level}");
        }
        let critical = Thresholds::new([Some(-5.0), None, None]).unwrap();
        assert_eq!(
            [-6.0, -5.0].map(|level| critical.alert_level(level)),
            [AlertLevel::Normal, AlertLevel::Critical]
        );
        assert!((all.lowest() - 750.0).abs() < f64::EPSILON);
    }

    #[test]
    fn thresholds_descend_and_one_is_given() {
        for wrong in [
            [None, None, None],
            [Some(1.0), Some(1.0), None],
            [Some(1.0), None, Some(2.0)],
            [Some(f64::NAN), None, None],
            [Some(f64::INFINITY), None, None],
        ] {
            assert_eq!(Thresholds::new(wrong), Err(InvalidThresholds), "{wrong:?}");
        }
    }

    #[test]
    fn the_worse_of_the_reported_and_the_computed_level_counts() {
        let thresholds = Thresholds::new([Some(950.0), Some(850.0), Some(750.0)]).unwrap();
        let read = |level, reported: Option<AlertLevel>, thresholds| {
            let reported = reported.map(|alert| (alert, "theirs".into()));
            Observation::new(Timestamp::EPOCH, level, reported, thresholds)
        };
        let worse = read(900.0, Some(AlertLevel::Normal), Some(&thresholds)).unwrap();
        assert_eq!((worse.alert, &*worse.label), (AlertLevel::Alert, "SIAGA II"));
        assert_eq!(
            worse.reported.map(|reported| (reported.alert, reported.label)),
            Some((4, "theirs".into()))
        );
        let theirs = read(10.0, Some(AlertLevel::Critical), Some(&thresholds)).unwrap();
        assert_eq!((theirs.alert, &*theirs.label, theirs.reported), (AlertLevel::Critical, "theirs", None));
        let computed = read(751.0, None, Some(&thresholds)).unwrap();
        assert_eq!((computed.alert, &*computed.label), (AlertLevel::Watch, "SIAGA III"));
        assert_eq!(read(751.0, None, None), None);
    }
}
