use serde_json::{Map, Value, json};

use super::common::{is_training, kept, moment, name, number_as_text, or_null, partner_code, text};
use super::{Named, array, object, reference};
use crate::model::bodies::{Accepts, CardRules, all_report_types, disasters_of, report_types};
use crate::model::{Attribute, CardId, DisasterType, Hazards};

/// Returns the schema of a card's report about one of these disasters, by these rules.
pub(crate) fn card_report(disasters: &[DisasterType], rules: &CardRules) -> Value {
    json!({
        "type": "object",
        "required": ["card_data", "created_at", "location"],
        "properties": {
            "disaster_type": or_null(json!({
                "type": "string", "enum": disasters,
                "description": "The disaster type. Default: the one that its `report_type` belongs to.",
            })),
            "card_data": card_data(disasters, rules),
            "text": or_null(text("What its reporter writes.")),
            "image_id": or_null(text("Checked, and not kept.")),
            "is_training": is_training(),
            "partner_code": partner_code(),
            "created_at": moment("When it was made. With a credential, at most 10 minutes ahead of the service's clock."),
            "location": reference("Position"),
        },
        "anyOf": disasters.iter().flat_map(|known| of_disaster(known, disasters, rules)).collect::<Value>(),
        "examples": [{
            "text": "test card", "disaster_type": "flood",
            "card_data": { "report_type": "flood", "flood_depth": 101 },
            "created_at": "2016-12-09T11:32:52.011Z", "location": { "lat": -6.149_531, "lng": 106.869_342 },
        }],
    })
}

/// Returns the schema of the data from a card, for all disasters.
fn card_data(disasters: &[DisasterType], rules: &CardRules) -> Value {
    let mut properties = json!({ "report_type": { "enum": all_report_types(disasters, rules) } });
    for Attribute { name, accepts, .. } in &rules.hazards.attributes {
        let mut schema = attribute(accepts);
        schema["description"] = meaning(accepts).into();
        properties[name] = schema;
    }
    // Types of TypeScript need members of any type beside named ones, so the rule for their values stands apart.
    json!({
        "type": "object",
        "description": "The type and its attributes. Other members are kept as they are.",
        "required": ["report_type"],
        "properties": properties,
        "additionalProperties": true,
        "if": { "type": "object" },
        "then": kept(json!({})),
    })
}

/// Returns which values are allowed together: a disaster, named or not, with its report types. If a type belongs to several
/// disasters, the disaster must be named, unless the type means this one.
fn of_disaster(disaster: &DisasterType, disasters: &[DisasterType], rules: &CardRules) -> Vec<Value> {
    let types = report_types(disaster, rules);
    let named = |names: Value, types: &[&str], required: &[&str]| {
        json!({
            "required": required,
            "properties": {
                "disaster_type": { "enum": names },
                "card_data": { "properties": { "report_type": { "enum": types } } },
            },
        })
    };
    // The types that mean this disaster if none is named.
    let own: Vec<_> =
        types.iter().copied().filter(|name| disasters_of(name, disasters, rules) == [*disaster]).collect();
    let mut by_type = named(json!([disaster, null]), &own, &[]);
    if *disaster == DisasterType::Flood {
        by_type["properties"]["card_data"]["required"] = json!(["flood_depth"]);
        by_type["properties"]["card_data"]["properties"]["flood_depth"] =
            json!({ "not": { "type": "null" } });
    }
    let all = (*disaster == DisasterType::Prep || own != types)
        .then(|| named(json!([disaster]), &types, &["disaster_type"]));
    all.into_iter().chain([by_type]).collect()
}

/// Returns the schema of an attribute, or null.
fn attribute(accepts: &Accepts) -> Value {
    let code = |highest: i64| json!({ "type": "integer", "minimum": 0, "maximum": highest });
    let measure = json!({ "type": "number", "minimum": 0 });
    match *accepts {
        Accepts::Depth(deepest) => {
            or_null(json!({ "type": "number", "minimum": 0, "maximum": f64::from(deepest) }))
        }
        Accepts::Code(highest) => or_null(code(highest)),
        Accepts::Codes(highest) => {
            json!({ "anyOf": [or_null(code(highest)), { "type": "array", "items": code(highest) }] })
        }
        Accepts::Measure => or_null(measure),
        Accepts::Place => json!({ "anyOf": [reference("Position"), { "type": "null" }] }),
        Accepts::Radius => json!({ "anyOf": [or_null(measure), reference("Position")] }),
        Accepts::Truth => json!({ "type": ["boolean", "null"] }),
    }
}

/// Says what the number of an attribute means, with its unit.
fn meaning(accepts: &Accepts) -> String {
    match *accepts {
        Accepts::Depth(_) => "The depth of the water in centimetres.".to_owned(),
        Accepts::Code(highest) => format!("A code of the form, from 0 to {highest}; without a unit."),
        Accepts::Codes(highest) => {
            format!("One or several codes of the form, from 0 to {highest}; without a unit.")
        }
        Accepts::Measure => "A distance in metres.".to_owned(),
        Accepts::Place => "A place, WGS84 degrees.".to_owned(),
        Accepts::Radius => "The radius of a circle in metres, or a place on it.".to_owned(),
        Accepts::Truth => "Whether it is so.".to_owned(),
    }
}

/// Returns the schema of the data from a card in responses, where each attribute has one type.
pub(crate) fn shown_card_data(hazards: &Hazards) -> Value {
    let code = |highest: i64| json!({ "type": "integer", "minimum": 0, "maximum": highest });
    let attributes = hazards.attributes.iter().map(|Attribute { name, accepts, .. }| {
        let mut shown = match *accepts {
            Accepts::Depth(deepest) => {
                json!({ "type": "integer", "minimum": 0, "maximum": f64::from(deepest) })
            }
            Accepts::Code(highest) => code(highest),
            Accepts::Codes(highest) => array(code(highest)),
            Accepts::Measure => json!({ "type": "number", "minimum": 0 }),
            Accepts::Place | Accepts::Radius => json!({ "allOf": [reference("Position")] }),
            Accepts::Truth => json!({ "type": "boolean" }),
        };
        shown["description"] = match accepts {
            Accepts::Depth(_) => "The depth of the water in whole centimetres.".to_owned(),
            Accepts::Radius => "A place on the circle, WGS84 degrees.".to_owned(),
            _ => meaning(accepts),
        }
        .into();
        (name.clone(), shown)
    });
    json!({
        "type": ["object", "null"],
        "description": "What the card says, with the attributes of its type.",
        "properties": attributes.collect::<Map<_, _>>(),
        "additionalProperties": true,
    })
}

pub(super) fn named() -> Named {
    let text = |says: &str| json!({ "type": "string", "description": says });
    let card_id = || json!({ "type": "string", "description": "The card.", "minLength": CardId::SHORTEST, "maxLength": CardId::LONGEST });
    vec![
        (
            "Card",
            object(json!({
                "pkey": number_as_text("The number of the card."),
                "card_id": card_id(),
                "username": text("Whom it was made for."),
                "network": text("The network it was asked for on."),
                "language": text("The language of its user."),
                "received": { "type": "boolean", "description": "Whether its report has been received." },
                "report_id": or_null(number_as_text("Its report.")),
            })),
        ),
        (
            "CardHolder",
            json!({
                "type": "object",
                "required": ["username", "network", "language"],
                "properties": {
                    "username": name("Whom it is made for.", "@resident"),
                    "network": name("The network it is asked for on.", "telegram"),
                    "language": name("The language of its user.", "id"),
                    "network_data": kept(json!({
                        "type": ["object", "null"], "description": "Whatever the network needs.",
                    })),
                },
                "examples": [{ "username": "@resident", "network": "telegram", "language": "id" }],
            }),
        ),
        ("NewCard", object(json!({ "cardId": card_id(), "created": { "const": true } }))),
        (
            "CardReceipt",
            object(json!({
                "statusCode": { "const": 200 },
                "cardId": card_id(),
                "created": { "const": true },
            })),
        ),
        (
            "Invitation",
            json!({
                "type": "object",
                "required": ["signedRequest", "url"],
                "properties": {
                    "signedRequest": text("Where the image is to be sent with PUT, for a while."),
                    "url": text("Where the image is seconds after."),
                    "contentType": text("The `Content-Type` to send it with, if a cloud storage receives it."),
                },
            }),
        ),
    ]
}
