//! Schemas of batch requests, of their log, and of the attention list.

use serde_json::{Value, json};

use super::common::{WITHOUT_CONTROLS, date_time, name, number_as_text, text, utc_date_time};
use super::floods::{CONFIRMED, FLOODED_SINCE, area_id, flood_state, log_entry};
use super::{annotate, array, object, or_null};
use crate::model::AreaId;
use crate::model::bodies::{MAX_AREAS, MAX_NOTE};

pub(super) fn schemas() -> Value {
    json!({ "FloodOrder": batch_request(), "FloodBatch": batch_response(), "FloodBatchEntry": batch_entry(), "Attention": attention() })
}

fn batch_request() -> Value {
    let after = "Only if this is the area's `last_updated` as `/floods` shows it; null: only if the area has no state. Without it, \
        whatever state the area has.";
    let change = object(json!({
        "area_id?": {
            "description": "The local area; this, or `geom_id`.",
            "anyOf": [
                { "type": "string", "pattern": r"^\d{1,18}$" },
                { "type": "integer", "minimum": 0, "maximum": AreaId::MAX },
            ],
        },
        "geom_id?": name("The identifier of the area's geometry, if only one area has it.", "3175030007001000"),
        "state": {
            "type": ["integer", "null"], "minimum": 1, "maximum": 4,
            "description": "The new state, as in `/floods`; null: the area is dry.",
        },
        "after?": or_null(date_time(after)),
    }));
    let batch_request = object(json!({
        "changes": {
            "type": "array", "minItems": 1, "maxItems": MAX_AREAS, "description": "The areas, each once.",
            "items": annotate(change, json!({ "oneOf": [{ "required": ["area_id"] }, { "required": ["geom_id"] }] })),
        },
        "note?": {
            "type": ["string", "null"], "description": "A note for the log; it is not public.",
            "pattern": WITHOUT_CONTROLS, "maxLength": MAX_NOTE,
        },
        "preview?": {
            "type": ["boolean", "null"],
            "description": "Whether to respond with what would be changed, and to change nothing.",
        },
    }));
    let change = json!({ "area_id": "5", "state": 2, "after": "2016-12-19T13:41:35.000Z" });
    annotate(batch_request, json!({ "examples": [{ "changes": [change], "note": "kelurahan telephoned" }] }))
}

fn batch_response() -> Value {
    let alerts = object(json!({
        "new?": { "type": "integer" }, "updates?": { "type": "integer" }, "cancels?": { "type": "integer" },
    }));
    object(json!({
        "batch": { "type": ["integer", "null"], "description": "The number of the batch; null for a preview." },
        "changed_at": utc_date_time("When all changes took effect."),
        "changed": array(object(json!({
            "area_id": area_id(),
            "area_name": { "type": ["string", "null"] },
            "parent_name": { "type": ["string", "null"] },
            "state": or_null(flood_state()),
            "last_updated": or_null(utc_date_time("When the state was set, as `/floods` shows it.")),
        }))),
        "left?": annotate(array(area_id()), json!({
            "description": "Undo only: areas that have changed since the batch, and so were left alone.",
        })),
        "alerts?": annotate(alerts, json!({
            "description": "Preview only: how many alerts of each type would be sent at once.",
        })),
    }))
}

fn batch_entry() -> Value {
    let mut batch_entry = log_entry();
    batch_entry["area_id"] = area_id();
    batch_entry["area_name"] = or_null(text("Null if the area no longer exists."));
    batch_entry["parent_name"] = json!({ "type": ["string", "null"] });
    batch_entry["batch"] = json!({ "type": ["integer", "null"], "description": "The number of the batch; null if the change was ordered alone." });
    batch_entry["note"] = or_null(text("The note of the batch."));
    batch_entry["undoes"] = json!({ "type": ["integer", "null"], "description": "The number of the batch that this batch undoes, if any." });
    object(batch_entry)
}

fn attention() -> Value {
    let text = json!({ "type": "string" });
    let ids = array(number_as_text("A report."));
    let depths = json!({ "type": "array", "items": { "type": "number" }, "description": "In centimetres." });
    let reason = object(json!({
        "reason": {
            "enum": ["reports", "unconfirmed", "gauge"],
            "description": "`reports`: residents have reported a flood since the area last changed. `unconfirmed`: nobody has \
                confirmed the state for long. `gauge`: a gauge nearby has had an alarm since the area last changed.",
        },
        "at": utc_date_time("When the reason arose, or was last renewed."),
        "first?": utc_date_time("`reports`: when the first was made."),
        "report_ids?": ids,
        "waiting_ids?": annotate(ids.clone(), json!({ "description": "Those that wait for review." })),
        "depths?": depths,
        "since?": utc_date_time("`unconfirmed`: when the state was set or confirmed."),
        "lapses?": utc_date_time("`unconfirmed`: when its alert ends."),
        "gaugeid?": text,
        "gaugenameid?": text,
        "alert?": { "type": "integer", "enum": [1, 2] },
        "label?": { "type": "string", "description": "`gauge`: the agency's name of the alarm." },
        "suspect?": { "type": "boolean", "description": "`gauge`: its newest reading is in doubt." },
        "last_heard?": utc_date_time("`gauge`: when it was last heard, if it is silent."),
    }));
    let evidence = object(json!({
        "report_ids": ids,
        "first": utc_date_time("When the first of them was made."),
        "last": utc_date_time("When the last of them was made."),
        "depths": depths,
        "gauges": annotate(array(text.clone()), json!({ "description": "Gauges nearby that have an alarm." })),
    }));
    object(json!({
        "area_id": area_id(),
        "area_name": text,
        "parent_name": text,
        "city_name": text,
        "state": or_null(flood_state()),
        "last_updated": or_null(utc_date_time("When the state was set, as `/floods` shows it.")),
        "flooded_since": or_null(utc_date_time(FLOODED_SINCE)),
        "confirmed": or_null(utc_date_time(CONFIRMED)),
        "reasons": { "type": "array", "minItems": 1, "items": reason, "description": "The newest first." },
        "suggested?": object(json!({ "state": flood_state(), "evidence": evidence })),
    }))
}
