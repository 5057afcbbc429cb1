use serde_json::{Value, json};

use super::common::{number_as_text, text, utc_date_time};
use super::{annotate, object, or_null};
use crate::model::FloodState;

pub(crate) const FLOODED_SINCE: &str = "When the flood began: the first state after the area was last dry. Changes of depth, confirmations and undoing leave it.";
pub(crate) const CONFIRMED: &str =
    "When somebody last set or confirmed the state. Undoing a later change restores it.";
pub(crate) const OVER_SINCE: &str =
    "When the last flood was over, if the area is dry and was flooded before.";

pub(crate) fn area_id() -> Value {
    number_as_text("The local area.")
}

pub(crate) fn flood_state() -> Value {
    json!({
        "type": "integer",
        "description": "1: unknown level of flooding, use caution; 2: 10 to 70 cm; 3: 71 to 150 cm; 4: over 150 cm.",
        "enum": FloodState::ALL.map(FloodState::code),
    })
}

pub(super) const SUBJECT: &str = "Whose credential it was: the name of a key or the `sub` of a token.";
pub(super) const USERNAME: &str = "The user for whom the client said it acted; nothing verifies it.";

pub(super) fn log_entry() -> Value {
    json!({
        "changed_at": utc_date_time("When the change took effect."),
        "state": or_null(flood_state()),
        "subject": text(SUBJECT),
        "username": or_null(text(USERNAME)),
    })
}

pub(super) fn schemas() -> Value {
    let request = object(json!({ "state": flood_state() }));
    json!({
        "FloodStateRecord": object(json!({
            "area_id": area_id(),
            "state": flood_state(),
            "last_updated": utc_date_time("When the state was last set, confirmed or restored."),
            "flooded_since": utc_date_time(FLOODED_SINCE),
            "confirmed": utc_date_time(CONFIRMED),
        })),
        "ArchiveRecord": object(json!({
            "area_id": area_id(),
            "last_updated": utc_date_time("When the highest state first took effect; possibly before the period."),
            "max_state": flood_state(),
        })),
        "SeriesPoint": object(json!({
            "ts": utc_date_time("The hour."),
            "count": number_as_text("How many there were."),
        })),
        "FloodLogEntry": object(log_entry()),
        "FloodStateOrder": annotate(request, json!({
            "description": "The new state. A text of the same digit is taken too, but send a number.",
            "examples": [{ "state": 2 }],
        })),
        "FloodStateChange": object(json!({
            "localAreaId": { "type": "integer", "description": "The local area.", "minimum": 0 },
            "state": or_null(flood_state()),
            "updated": { "const": true },
        })),
    })
}
