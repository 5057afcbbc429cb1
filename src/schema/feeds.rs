use serde_json::{Value, json};

use super::common::{is_training, moment, or_null, partner_code, text, web_address};
use super::{Named, array, object, reference};
use crate::model::bodies::PartnerRules;

/// Returns the schema of a report from the partner feed, by these rules.
pub(crate) fn partner_report(rules: &PartnerRules) -> Value {
    json!({
        "type": "object",
        "required": ["post_id", "created_at", "partner_city", "disaster_type", "location"],
        "properties": {
            "post_id": {
                "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX,
                "description": "Identifies the report at the partner. If it is sent again, no second report is made.",
            },
            "created_at": moment("When it was made, at most 10 minutes ahead of the service's clock."),
            "title": or_null(text("Its title.")),
            "text": or_null(text("What it says.")),
            "image_url": or_null(web_address("Where its image is.")),
            "partner_city": { "enum": rules.cities, "description": "The city." },
            "disaster_type": { "enum": rules.disaster_types },
            "location": reference("Position"),
            "is_training": is_training(),
            "partner_code": partner_code(),
            "partner_icon": or_null(web_address("Where the icon of the partner is.")),
        },
        "examples": [{
            "post_id": 1_234_567_802, "created_at": "2016-12-09T11:32:52.011Z", "image_url": "http://myimg",
            "partner_city": rules.cities.first(), "disaster_type": rules.disaster_types.first(),
            "text": "A big flood", "location": { "lat": -6.149_531, "lng": 106.869_342 },
        }],
    })
}

pub(super) fn named() -> Named {
    vec![
        (
            "Feed",
            object(json!({
                "feed": { "type": "string", "description": "Its name." },
                "cities": array(json!({ "type": "string" })),
                "disaster_types": array(json!({ "type": "string" })),
            })),
        ),
        (
            "PartnerReceipt",
            json!({
                "type": "object",
                "required": ["post_id", "created"],
                "properties": {
                    "post_id": { "type": "integer" },
                    "created": { "type": "boolean", "description": "Whether the request made a report; false if it was stored already." },
                    "message": { "type": "string", "description": "Why it made none." },
                },
            }),
        ),
    ]
}
