use serde_json::{Value, json};

use super::{annotate, array, object, or_null, reference};
use crate::model::LONGEST_WEB_ADDRESS;

pub(crate) const WITHOUT_CONTROLS: &str = r"^[^\u0000-\u001F\u007F-\u009F]*$";

const WITHOUT_NUL: &str = r"^[^\u0000]*$";

pub(crate) fn date_time(description: &str) -> Value {
    let description =
        format!("{description} In the years 1 to 9999 (UTC); the colon of the offset can be left out.");
    json!({
        "type": "string", "format": "date-time", "description": description,
        "examples": ["2017-06-07T00:00:00+07:00"],
    })
}

pub(crate) fn utc_date_time(description: &str) -> Value {
    json!({
        "type": "string", "format": "date-time", "description": description,
        "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$", "examples": ["2016-12-19T13:53:52.274Z"],
    })
}

/// Returns the schema of a name that [`is_name`](crate::model::is_name) accepts.
pub(crate) fn name(description: &str, example: &str) -> Value {
    json!({
        "type": "string", "description": description, "pattern": WITHOUT_CONTROLS,
        "minLength": 1, "maxLength": 255, "examples": [example],
    })
}

pub(super) fn is_training() -> Value {
    json!({
        "type": ["boolean", "null"],
        "description": "Whether it was made in a training; then it is listed with `training=true` only.",
    })
}

pub(super) fn partner_code() -> Value {
    json!({
        "type": ["string", "null"], "description": "The partner it comes through; none if empty.",
        "pattern": WITHOUT_CONTROLS, "maxLength": 255,
    })
}

pub(crate) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// Returns the schema of a text without NUL characters, which databases cannot store.
pub(super) fn storable_text(description: &str) -> Value {
    json!({ "type": "string", "description": description, "pattern": WITHOUT_NUL })
}

/// Returns the schema of a web address. Stricter than [`is_web_address`](crate::model::is_web_address), which also accepts IP
/// addresses and hosts outside ASCII.
pub(super) fn web_address(description: &str) -> Value {
    json!({
        "type": "string", "description": description, "maxLength": LONGEST_WEB_ADDRESS,
        "pattern": concat!(
            r"^[Hh][Tt][Tt][Pp][Ss]?://([A-Za-z0-9]+(-[A-Za-z0-9]+)*\.)*[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*",
            r"(:[0-9]{1,4})?([/?#][^\u0000-\u001F\u007F-\u009F]*)?$",
        ),
    })
}

/// Returns the schema of a JSON object that is stored unchanged. JSON Schema cannot limit the nesting depth.
pub(super) fn stored_object(mut object: Value) -> Value {
    object["propertyNames"] = json!({ "pattern": WITHOUT_NUL });
    object["additionalProperties"] = reference("Kept");
    object
}

pub(crate) fn number_as_text(description: &str) -> Value {
    json!({ "type": "string", "description": description, "pattern": r"^\d+$", "examples": ["5"] })
}

pub(super) fn schemas() -> Value {
    let position = object(json!({
        "lat": { "type": "number", "minimum": -90, "maximum": 90 },
        "lng": { "type": "number", "minimum": -180, "maximum": 180 },
    }));
    let tags = object(json!({
        "instance_region_code": or_null(annotate(text("The province (ISO 3166-2)."), json!({ "examples": ["ID-JK"] }))),
        "local_area_id": or_null(number_as_text("The local area.")),
        "district_id?": {
            "type": "string", "minLength": 1, "examples": ["3172090"],
            "description": "The district: the attribute `district_id` of the local area. Absent if the area has none.",
        },
    }));
    json!({
        "Problem": problem(),
        "Kept": {
            "description": "Any value whose texts and names have no NUL characters. In a request, at most 16 levels deep.",
            // Uses conditions, not `anyOf`, because client generators cannot resolve a recursive `anyOf`. They ignore conditions,
            // and so accept any value here.
            "if": { "type": "string" },
            "then": { "pattern": WITHOUT_NUL },
            "else": { "if": { "type": "object" }, "then": stored_object(json!({})), "else": { "items": reference("Kept") } },
        },
        "Position": annotate(position, json!({
            "description": "A place, WGS84 degrees.", "examples": [{ "lat": -6.149_531, "lng": 106.869_342 }],
        })),
        "Tags": annotate(tags, json!({ "description": "The province and the local area of a place; null outside all areas." })),
    })
}

fn problem() -> Value {
    let validation = object(json!({
        "source": { "enum": ["query", "params", "body", "headers"] },
        "keys": array(json!({ "type": "string" })),
    }));
    let problem = object(json!({
        "statusCode": { "type": "integer", "description": "The status of the response." },
        "error": text("The status in words."),
        "message": text("What is wrong, and what is allowed."),
        "validation?": annotate(validation, json!({ "description": "Which part of the request is wrong; with 400 only." })),
        "outside?": {
            "type": "array", "items": { "type": "string" },
            "description": "The areas of the order or of the report, if the credential is limited to others; empty for a report without an area; with 403 only.",
        },
        "unknown?": {
            "type": "array", "items": { "type": "string" },
            "description": "The areas of an order that do not exist; with 404 only.",
        },
        "conflicts?": {
            "type": "array", "items": { "type": "object" },
            "description": "The areas of an order that have changed, each with `area_id`, `area_name`, `parent_name`, `state`, \
                `since`, `by` and `username`; with 409 only.",
        },
        "cardId?": text("The card that the request would change."),
        "found?": { "type": "boolean", "const": false, "description": "Only in responses to a request for a card." },
        "result?": { "description": "Null; only in responses to a request for a card." },
    }));
    let example = json!({
        "statusCode": 400, "error": "Bad Request", "message": "\"minimum_state\" must be a whole number from 1 to 4",
        "validation": { "source": "query", "keys": ["minimum_state"] },
    });
    annotate(problem, json!({ "description": "The body of every error response.", "examples": [example] }))
}
