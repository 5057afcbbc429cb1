use serde_json::{Value, json};

use super::common::{date_time, name, text};
use super::{annotate, array, object, or_null, reference};
use crate::model::AlertLevel;

pub(super) fn schemas() -> Value {
    let level = |description: &str| json!({ "type": "number", "description": description });
    let alert = json!({
        "type": "integer", "enum": AlertLevel::ALL.map(AlertLevel::number),
        "description": "The alert level, from 4 (normal) to 1 (critical).",
    });
    let readings = object(json!({
        "gaugeid": name("The gauge.", "TMA00001"),
        "gaugenameid": name("Its name.", "Bendung Katulampa"),
        "location": reference("Position"),
        "observations": array(object(json!({
            "observed_at": date_time(
                "When the level was read, at most 10 minutes ahead of the service's clock; read again, it is replaced."
            ),
            "level": level("The water level in centimetres."),
            "alert": alert,
            "label?": or_null(name("The alert level in words; unless given `SIAGA` and the level in Roman.", "SIAGA I")),
        }))),
    }));
    let example = json!({
        "gaugeid": "TMA00001", "gaugenameid": "Bendung Katulampa",
        "location": { "lat": -6.633_43, "lng": 106.837_16 },
        "observations": [{ "observed_at": "2016-12-09T04:00:00Z", "level": 40, "alert": 4, "label": "SIAGA IV" }],
    });
    json!({
        "Observation": object(json!({
            "f1": {
                "type": "string", "format": "date-time", "description": "When the level was read.",
                "pattern": r"^.*\+00:00$", "examples": ["2016-12-09T04:00:00+00:00"],
            },
            "f2": level("The water level in centimetres; it may be negative."),
            "f3": alert,
            "f4": annotate(text("The alert level in words."), json!({ "examples": ["SIAGA IV"] })),
        })),
        "GaugeReadings": annotate(readings, json!({ "examples": [example] })),
        "GaugeStored": object(json!({
            "gaugeid": { "type": "string" },
            "stored": { "type": "integer", "minimum": 0, "description": "How many readings were sent." },
            "updated": { "const": true },
        })),
    })
}
