use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::fields::{Fault, Fields, Object, code, read};
use crate::model::{
    AlertLevel, GaugeSettings, InvalidAlertLevel, InvalidThresholds, Observation, Position, Thresholds,
    Timestamp,
};

/// A gauge and its readings, as an agency sends them.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeReadings {
    /// Identifies the gauge.
    pub id: String,
    /// The name of the gauge.
    pub name: String,
    /// The place of the gauge.
    pub location: Position,
    /// What changes in the settings of the gauge.
    pub settings: SettingsUpdate,
    /// The readings, in the order sent.
    pub observations: Vec<SentReading>,
}

/// A change of [`GaugeSettings`]. **Default: no change**
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingsUpdate {
    /// The thresholds.
    pub thresholds: Update<Thresholds>,
    /// The levels that the gauge can measure.
    pub range: Update<[f64; 2]>,
    /// The expected seconds between two readings.
    pub every: Update<u32>,
}

/// A change of a stored value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Update<T> {
    /// Keeps the stored value.
    #[default]
    Keep,
    /// Replaces it.
    Set(T),
    /// Removes it.
    Remove,
}

impl<T> Update<T> {
    fn apply(self, stored: Option<T>) -> Option<T> {
        match self {
            Self::Keep => stored,
            Self::Set(value) => Some(value),
            Self::Remove => None,
        }
    }
}

/// A reading, as an agency sends it.
#[derive(Clone, Debug, PartialEq)]
pub struct SentReading {
    /// When the level was read.
    pub observed_at: Timestamp,
    /// The water level in centimetres.
    pub level: f64,
    /// The reported alert level and its name, if any.
    pub alert: Option<(AlertLevel, Box<str>)>,
}

/// Error for a reading without an alert level, of a gauge without thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"observations.{0}.alert\" is required, because the gauge has no thresholds: send \"alert\", or \"thresholds\" of the gauge"
)]
pub struct MissingAlert(pub usize);

impl GaugeReadings {
    /// Returns the settings of the gauge after the update, and the readings by time; of several with the same time, the last.
    ///
    /// # Errors
    ///
    /// If a reading has no alert level, and the gauge no thresholds.
    pub fn resolve(
        &self,
        stored: Option<&GaugeSettings>,
    ) -> Result<(GaugeSettings, BTreeMap<Timestamp, Observation>), MissingAlert> {
        let stored = stored.copied().unwrap_or_default();
        let update = &self.settings;
        let settings = GaugeSettings {
            thresholds: update.thresholds.apply(stored.thresholds),
            range: update.range.apply(stored.range),
            every: update.every.apply(stored.every),
        };
        let mut readings = BTreeMap::new();
        for (index, SentReading { observed_at, level, alert }) in self.observations.iter().enumerate() {
            let reading = Observation::new(*observed_at, *level, alert.clone(), settings.thresholds.as_ref());
            readings.insert(*observed_at, reading.ok_or(MissingAlert(index))?);
        }
        Ok((settings, readings))
    }
}

impl From<Observation> for SentReading {
    fn from(reading: Observation) -> Self {
        let Observation { observed_at, level, alert, label, .. } = reading;
        Self { observed_at, level, alert: Some((alert, label)) }
    }
}

/// Parses a gauge and its readings. Keeps times slightly after `now`, so that a reading sent again replaces the first one.
pub(crate) fn read_gauge(body: &Object, now: Timestamp) -> Result<GaugeReadings, Vec<Fault>> {
    read(body, |fields| {
        let id = fields.required("gaugeid", Fields::name);
        let name = fields.required("gaugenameid", Fields::name);
        let location = fields.required("location", Fields::known_position);
        let settings = SettingsUpdate {
            thresholds: fields.update("thresholds", InvalidThresholds, thresholds),
            range: fields.update(
                "range",
                "must be the lowest and the highest level, two ascending numbers in cm",
                range,
            ),
            every: fields.update("every", "must be whole seconds from 60 to 86400", every),
        };
        let observations = fields
            .required("observations", |fields, key| fields.objects(key, |fields| observation(fields, now)));
        Some(GaugeReadings {
            id: id?.to_owned(),
            name: name?.to_owned(),
            location: location?,
            settings,
            observations: observations?,
        })
    })
}

/// An order to mute a gauge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MuteOrder {
    pub(crate) until: Timestamp,
    pub(crate) reason: String,
}

const MUTED_FOR: Duration = Duration::from_hours(24);
const LONGEST_MUTE: Duration = Duration::from_hours(30 * 24);

pub(crate) fn read_mute(body: &Object, now: Timestamp) -> Result<MuteOrder, Vec<Fault>> {
    read(body, |fields| {
        let until = fields.get("until").map(|_| fields.moment("until"));
        let until = until.unwrap_or_else(|| Some(now.saturating_add(MUTED_FOR)));
        let until = until.filter(|until| {
            let is_valid = now < *until && *until <= now.saturating_add(LONGEST_MUTE);
            if !is_valid {
                fields.fault("until", "must be a time in the next 30 days");
            }
            is_valid
        });
        let reason = fields.required("reason", Fields::name);
        Some(MuteOrder { until: until?, reason: reason?.to_owned() })
    })
}

fn thresholds(value: &Value) -> Option<Thresholds> {
    serde_json::from_value(value.clone()).ok()
}

fn range(value: &Value) -> Option<[f64; 2]> {
    let range: [f64; 2] = serde_json::from_value(value.clone()).ok()?;
    (range[0] < range[1]).then_some(range)
}

fn every(value: &Value) -> Option<u32> {
    value
        .as_u64()
        .and_then(|seconds| u32::try_from(seconds).ok())
        .filter(|seconds| (60..=86_400).contains(seconds))
}

fn observation(fields: &Fields<'_>, now: Timestamp) -> Option<SentReading> {
    let observed_at = fields.required("observed_at", |fields, key| fields.reading_time(key, now));
    let level = fields.required("level", Fields::number);
    let alert = fields.convert("alert", InvalidAlertLevel, code::<AlertLevel>);
    let label = fields.name("label");
    let alert = alert.map(|alert| (alert, label.unwrap_or(alert.label()).into()));
    Some(SentReading { observed_at: observed_at?, level: level?, alert })
}
