use super::fields::{Fault, Fields, Object, code, read};
use crate::model::{AlertLevel, InvalidAlertLevel, Observation, Position, Timestamp};

/// A gauge and its readings, as an agency sends them.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeReadings {
    /// Identifies the gauge.
    pub id: String,
    /// The name of the gauge.
    pub name: String,
    /// The place of the gauge.
    pub location: Position,
    /// The readings, in the order sent.
    pub observations: Vec<Observation>,
}

/// Parses a gauge and its readings. Keeps times slightly after `now`, so that a reading sent again replaces the first one.
pub(crate) fn read_gauge(body: &Object, now: Timestamp) -> Result<GaugeReadings, Vec<Fault>> {
    read(body, |fields| {
        let id = fields.required("gaugeid", Fields::name);
        let name = fields.required("gaugenameid", Fields::name);
        let location = fields.required("location", Fields::known_position);
        let observations = fields
            .required("observations", |fields, key| fields.objects(key, |fields| observation(fields, now)));
        Some(GaugeReadings {
            id: id?.to_owned(),
            name: name?.to_owned(),
            location: location?,
            observations: observations?,
        })
    })
}

/// Reads an observation. Its label defaults to the label of the alert level.
fn observation(fields: &Fields<'_>, now: Timestamp) -> Option<Observation> {
    let observed_at = fields.required("observed_at", |fields, key| fields.reading_time(key, now));
    let level = fields.required("level", Fields::number);
    let alert =
        fields.required("alert", |fields, key| fields.convert(key, InvalidAlertLevel, code::<AlertLevel>));
    let label = fields.name("label");
    let alert = alert?;
    let label = label.unwrap_or(alert.label()).into();
    Some(Observation { observed_at: observed_at?, level: level?, alert, label })
}
