use serde_json::{Value, json};

use super::common::{moment, name, or_null};
use super::{Named, array, object, reference};
use crate::model::AlertLevel;

fn level(says: &str) -> Value {
    json!({ "type": "number", "description": says })
}

fn alert() -> Value {
    let levels = AlertLevel::ALL.map(AlertLevel::number);
    json!({ "type": "integer", "enum": levels, "description": "The alert level, from 4 (normal) to 1 (critical)." })
}

pub(super) fn named() -> Named {
    vec![
        (
            "Observation",
            object(json!({
                "f1": {
                    "type": "string", "format": "date-time", "description": "When the level was read.",
                    "pattern": r"^.*\+00:00$", "examples": ["2016-12-09T04:00:00+00:00"],
                },
                "f2": level("The water level in centimetres; it may be negative."),
                "f3": alert(),
                "f4": { "type": "string", "description": "The alert level in words.", "examples": ["SIAGA IV"] },
            })),
        ),
        (
            "GaugeReadings",
            json!({
                "type": "object",
                "required": ["gaugeid", "gaugenameid", "location", "observations"],
                "properties": {
                    "gaugeid": name("The gauge.", "TMA00001"),
                    "gaugenameid": name("Its name.", "Bendung Katulampa"),
                    "location": reference("Position"),
                    "observations": array(json!({
                        "type": "object",
                        "required": ["observed_at", "level", "alert"],
                        "properties": {
                            "observed_at": moment(
                                "When the level was read, at most 10 minutes ahead of the service's clock; read again, it is replaced."
                            ),
                            "level": level("The water level in centimetres."),
                            "alert": alert(),
                            "label": or_null(name("The alert level in words; unless given `SIAGA` and the level in Roman.", "SIAGA I")),
                        },
                    })),
                },
                "examples": [{
                    "gaugeid": "TMA00001", "gaugenameid": "Bendung Katulampa",
                    "location": { "lat": -6.633_43, "lng": 106.837_16 },
                    "observations": [{
                        "observed_at": "2016-12-09T04:00:00Z", "level": 40, "alert": 4, "label": "SIAGA IV",
                    }],
                }],
            }),
        ),
        (
            "GaugeStored",
            object(json!({
                "gaugeid": { "type": "string" },
                "stored": { "type": "integer", "minimum": 0, "description": "How many readings were sent." },
                "updated": { "const": true },
            })),
        ),
    ]
}
