use serde_json::{Value, json};

use super::common::{date_time, name, text, utc_date_time};
use super::floods::{SUBJECT, USERNAME};
use super::{annotate, array, object, or_null, reference};
use crate::model::{AlertLevel, GaugeStatus};

fn offset_time(description: &str) -> Value {
    json!({
        "type": "string", "format": "date-time", "description": description,
        "pattern": r"^.*\+00:00$", "examples": ["2016-12-09T04:00:00+00:00"],
    })
}

pub(super) fn schemas() -> Value {
    let level = |description: &str| json!({ "type": "number", "description": description });
    let alert = json!({
        "type": "integer", "enum": AlertLevel::ALL.map(AlertLevel::number),
        "description": "The alert level, from 4 (normal) to 1 (critical).",
    });
    let range = json!({
        "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2,
        "description": "The lowest and the highest level that the gauge can measure, in centimetres.",
    });
    let every = json!({
        "type": "integer", "minimum": 60, "maximum": 86_400,
        "description": "The expected time between two readings, in seconds.",
    });
    let readings = object(json!({
        "gaugeid": name("The gauge.", "TMA00001"),
        "gaugenameid": name("Its name.", "Bendung Katulampa"),
        "location": reference("Position"),
        "thresholds?": or_null(reference("Thresholds")),
        "range?": or_null(range.clone()),
        "every?": or_null(every.clone()),
        "observations": array(object(json!({
            "observed_at": date_time(
                "When the level was read, at most 10 minutes ahead of the service's clock; read again, it is replaced."
            ),
            "level": level("The water level in centimetres."),
            "alert?": or_null(alert.clone()),
            "label?": or_null(name("The alert level in words; unless given `SIAGA` and the level in Roman.", "SIAGA I")),
        }))),
    }));
    let example = json!({
        "gaugeid": "TMA00001", "gaugenameid": "Bendung Katulampa",
        "location": { "lat": -6.633_43, "lng": 106.837_16 },
        "observations": [{ "observed_at": "2016-12-09T04:00:00Z", "level": 40, "alert": 4, "label": "SIAGA IV" }],
    });
    json!({
        "Thresholds": annotate(
            object(json!({
                "critical?": level("The level from which 1 applies."),
                "alert?": level("The level from which 2 applies."),
                "watch?": level("The level from which 3 applies."),
            })),
            json!({
                "minProperties": 1, "additionalProperties": false,
                "description": "The levels in centimetres from which an alert level applies; critical above alert above watch.",
            }),
        ),
        "GaugeRange": range,
        "GaugeInterval": every,
        "GaugeStatus": {
            "type": "string", "enum": GaugeStatus::ALL.map(GaugeStatus::name),
            "description": "`suspect`: the newest reading is in doubt. `silent`: three expected readings are missing. `never`: it was \
                never read. `muted`: an operator has switched the gauge off for a time.",
        },
        "GaugeTrend": object(json!({
            "cm_per_hour": level("The median slope (Theil–Sen) of the good readings of two hours, in centimetres per hour."),
            "from": offset_time("When the first of them was read."),
            "to": offset_time("When the last of them was read."),
        })),
        "Observation": object(json!({
            "f1": offset_time("When the level was read."),
            "f2": level("The water level in centimetres; it may be negative."),
            "f3": alert,
            "f4": annotate(text("The alert level in words."), json!({ "examples": ["SIAGA IV"] })),
            "quality?": {
                "type": "integer", "enum": [1, 3, 4, 9],
                "description": "The flag of QARTOD: 1 pass, 3 suspect, 4 fail, 9 missing; absent: not evaluated (2).",
            },
            "reason?": { "type": "string", "enum": ["range", "spike", "flat", "sentinel"], "description": "Why the level is in doubt." },
            "reported?": annotate(
                object(json!({ "alert": alert, "label": text("Its name.") })),
                json!({ "description": "The alert level that was sent, if the thresholds make it worse." }),
            ),
        })),
        "GaugeReadings": annotate(readings, json!({ "examples": [example] })),
        "MuteOrder": annotate(
            object(json!({
                "until?": or_null(date_time("When the gauge counts again, at most 30 days ahead; without it in 24 hours.")),
                "reason": name("Why. Only officers see it.", "under repair"),
            })),
            json!({ "examples": [{ "reason": "under repair" }] }),
        ),
        "MuteChange": object(json!({
            "gaugeid": { "type": "string" },
            "muted_until": or_null(utc_date_time("When the gauge counts again; null if it does now.")),
            "updated": { "const": true },
        })),
        "GaugeLogEntry": object(json!({
            "at": utc_date_time("When it was done."),
            "until": or_null(utc_date_time("When the gauge counts again; null if this entry ended the muting.")),
            "reason": text("Why; empty if this entry ended the muting."),
            "subject": text(SUBJECT),
            "username": or_null(text(USERNAME)),
        })),
        "GaugeStored": object(json!({
            "gaugeid": { "type": "string" },
            "stored": { "type": "integer", "minimum": 0, "description": "How many readings were sent." },
            "updated": { "const": true },
        })),
    })
}
