use serde_json::{Map, Value, json};

use super::common::{
    date_time, is_training, name, number_as_text, partner_code, storable_text, stored_object, text,
};
use super::{annotate, array, object, or_null, reference};
use crate::model::bodies::{Accepts, CardRules, all_report_type_names, disasters_of, report_type_names};
use crate::model::{Attribute, CardId, DisasterType, Hazards};

pub(crate) fn card_report(disasters: &[DisasterType], rules: &CardRules) -> Value {
    let report = object(json!({
        "disaster_type?": or_null(json!({
            "type": "string", "enum": disasters,
            "description": "The disaster type. Default: the one that its `report_type` belongs to.",
        })),
        "card_data": card_data(disasters, rules),
        "text?": or_null(storable_text("What its reporter writes.")),
        "image_id?": or_null(storable_text("Checked, and not kept.")),
        "is_training?": is_training(),
        "partner_code?": partner_code(),
        "created_at": date_time("When it was made. With a credential, at most 10 minutes ahead of the service's clock."),
        "location": reference("Position"),
    }));
    let allowed = disasters.iter().flat_map(|disaster| disaster_schemas(disaster, disasters, rules));
    let example = json!({
        "text": "test card", "disaster_type": "flood",
        "card_data": { "report_type": "flood", "flood_depth": 101 },
        "created_at": "2016-12-09T11:32:52.011Z", "location": { "lat": -6.149_531, "lng": 106.869_342 },
    });
    annotate(report, json!({ "anyOf": allowed.collect::<Value>(), "examples": [example] }))
}

fn card_data(disasters: &[DisasterType], rules: &CardRules) -> Value {
    let mut properties = json!({ "report_type": { "enum": all_report_type_names(disasters, rules) } });
    for Attribute { name, accepts, .. } in &rules.hazards.attributes {
        properties[name] = request_schema(accepts);
    }
    // The rule for all values is a separate schema: in TypeScript, the type of unnamed members must accept the named ones too.
    json!({
        "type": "object",
        "description": "The type and its attributes. Other members are kept as they are.",
        "required": ["report_type"],
        "properties": properties,
        "additionalProperties": true,
        "if": { "type": "object" },
        "then": stored_object(json!({})),
    })
}

/// Returns schemas of the allowed combinations of a disaster with its report types. A request may leave out the disaster if the
/// report type alone implies it.
fn disaster_schemas(disaster: &DisasterType, disasters: &[DisasterType], rules: &CardRules) -> Vec<Value> {
    let types = report_type_names(disaster, rules);
    let combination = |names: Value, types: &[&str], required: &[&str]| {
        json!({
            "required": required,
            "properties": {
                "disaster_type": { "enum": names },
                "card_data": { "properties": { "report_type": { "enum": types } } },
            },
        })
    };
    let own: Vec<_> =
        types.iter().copied().filter(|name| disasters_of(name, disasters, rules) == [*disaster]).collect();
    let mut by_type = combination(json!([disaster, null]), &own, &[]);
    if *disaster == DisasterType::Flood {
        by_type["properties"]["card_data"]["required"] = json!(["flood_depth"]);
        by_type["properties"]["card_data"]["properties"]["flood_depth"] =
            json!({ "not": { "type": "null" } });
    }
    let all = (*disaster == DisasterType::Prep || own != types)
        .then(|| combination(json!([disaster]), &types, &["disaster_type"]));
    all.into_iter().chain([by_type]).collect()
}

/// Returns the schema of an attribute in requests, where it may be null.
fn request_schema(accepts: &Accepts) -> Value {
    let schema = response_schema(accepts);
    let alternatives = match accepts {
        Accepts::Code(_) | Accepts::Measure | Accepts::Truth => return or_null(schema),
        Accepts::Depth(_) => return annotate(schema, json!({ "type": ["number", "null"] })),
        Accepts::Codes(_) => {
            json!([or_null(schema["items"].clone()), array(schema["items"].clone())])
        }
        Accepts::Place => json!([reference("Position"), { "type": "null" }]),
        Accepts::Radius => json!([{ "type": ["number", "null"], "minimum": 0 }, reference("Position")]),
    };
    json!({ "anyOf": alternatives, "description": schema["description"] })
}

/// Returns the schema of an attribute in responses, where it has a single type.
fn response_schema(accepts: &Accepts) -> Value {
    let code = |highest: i64| json!({ "type": "integer", "minimum": 0, "maximum": highest });
    let (schema, meaning) = match *accepts {
        Accepts::Depth(deepest) => {
            let schema = json!({ "type": "integer", "minimum": 0, "maximum": f64::from(deepest) });
            (schema, "The depth of the water in centimetres.")
        }
        Accepts::Code(highest) => (code(highest), "A code of the form; without a unit."),
        Accepts::Codes(highest) => {
            (array(code(highest)), "One or several codes of the form; without a unit.")
        }
        Accepts::Measure => (json!({ "type": "number", "minimum": 0 }), "A distance in metres."),
        Accepts::Place => (json!({ "allOf": [reference("Position")] }), "A place, WGS84 degrees."),
        Accepts::Radius => (
            json!({ "allOf": [reference("Position")] }),
            "The radius of a circle in metres, or a place on it, WGS84 degrees.",
        ),
        Accepts::Truth => (json!({ "type": "boolean" }), "Whether it is so."),
    };
    annotate(schema, json!({ "description": meaning }))
}

pub(crate) fn response_card_data(hazards: &Hazards) -> Value {
    let attributes = hazards.attributes.iter();
    let attributes = attributes.map(|entry| (entry.name.clone(), response_schema(&entry.accepts)));
    json!({
        "type": ["object", "null"],
        "description": "What the card says, with the attributes of its type.",
        "properties": attributes.collect::<Map<_, _>>(),
        "additionalProperties": true,
    })
}

pub(super) fn schemas() -> Value {
    let card_id = json!({
        "type": "string", "description": "The card.", "minLength": CardId::SHORTEST, "maxLength": CardId::LONGEST,
    });
    let holder = object(json!({
        "username": name("Whom it is made for.", "@resident"),
        "network": name("The network it is asked for on.", "telegram"),
        "language": name("The language of its user.", "id"),
        "network_data?": stored_object(json!({ "type": ["object", "null"], "description": "Whatever the network needs." })),
    }));
    let example = json!({ "username": "@resident", "network": "telegram", "language": "id" });
    json!({
        "Card": object(json!({
            "pkey": number_as_text("The number of the card."),
            "card_id": card_id,
            "username": text("Whom it was made for."),
            "network": text("The network it was asked for on."),
            "language": text("The language of its user."),
            "received": { "type": "boolean", "description": "Whether its report has been received." },
            "report_id": or_null(number_as_text("Its report.")),
        })),
        "CardHolder": annotate(holder, json!({ "examples": [example] })),
        "NewCard": object(json!({ "cardId": card_id, "created": { "const": true } })),
        "CardReceipt": object(json!({ "statusCode": { "const": 200 }, "cardId": card_id, "created": { "const": true } })),
        "Invitation": object(json!({
            "signedRequest": text("Where the image is to be sent with PUT, for a while."),
            "url": text("Where the image is seconds after."),
            "contentType?": text("The `Content-Type` to send it with, if a cloud storage receives it."),
        })),
    })
}
