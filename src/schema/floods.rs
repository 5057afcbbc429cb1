use serde_json::{Value, json};

use super::common::{number_as_text, or_null, written_moment};
use super::{Named, object};
use crate::model::FloodState;

fn area_id() -> Value {
    number_as_text("The local area.")
}

/// A state.
fn state() -> Value {
    json!({
        "type": "integer",
        "description": "1: unknown level of flooding, use caution; 2: 10 to 70 cm; 3: 71 to 150 cm; 4: over 150 cm.",
        "enum": FloodState::ALL.map(FloodState::code),
    })
}

/// The properties of an area, of which the last is there only where the data set has such.
fn with_attributes(mut properties: Value) -> Value {
    properties["properties"]["attributes"] = json!({
        "type": "object", "minProperties": 1, "additionalProperties": true,
        "description": "What the data set says of the area in words of its own; absent if nothing.",
    });
    properties
}

pub(super) fn named() -> Named {
    vec![
        (
            "FloodProperties",
            with_attributes(object(json!({
                "area_id": area_id(),
                "geom_id": { "type": "string", "description": "The geometry." },
                "area_name": { "type": "string", "description": "The name of the area." },
                "parent_name": { "type": "string", "description": "The name of what it is part of." },
                "city_name": { "type": "string", "description": "The name of its city." },
                "state": or_null(state()),
                "last_updated": or_null(written_moment("When the state was set.")),
            }))),
        ),
        (
            "FloodStateRecord",
            object(json!({
                "area_id": area_id(),
                "state": state(),
                "last_updated": written_moment("When the state was set."),
            })),
        ),
        (
            "ArchiveRecord",
            object(json!({
                "area_id": area_id(),
                "last_updated": written_moment("When the highest state first took effect; possibly before the period."),
                "max_state": state(),
            })),
        ),
        (
            "SeriesPoint",
            object(json!({
                "ts": written_moment("The hour."),
                "count": number_as_text("How many there were."),
            })),
        ),
        (
            "FloodStateOrder",
            json!({
                "type": "object",
                "required": ["state"],
                "properties": { "state": state() },
                "examples": [{ "state": 2 }],
            }),
        ),
        (
            "FloodStateChange",
            object(json!({
                "localAreaId": { "type": "integer", "description": "The local area.", "minimum": 0 },
                "state": or_null(state()),
                "updated": { "const": true },
            })),
        ),
    ]
}
