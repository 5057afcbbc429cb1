use serde_json::{Value, json};

use super::common::{
    date_time, is_training, name, number_as_text, partner_code, storable_text, text, web_address,
};
use super::{annotate, array, object, or_null, reference};
use crate::model::bodies::PartnerRules;

pub(crate) fn partner_report(rules: &PartnerRules) -> Value {
    let report = object(json!({
        "post_id": {
            "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX,
            "description": "Identifies the report at the partner. If it is sent again, no second report is made.",
        },
        "created_at": date_time("When it was made, at most 10 minutes ahead of the service's clock."),
        "title?": or_null(storable_text("Its title.")),
        "text?": or_null(storable_text("What it says.")),
        "image_url?": or_null(web_address("Where its image is.")),
        "partner_city": { "enum": rules.cities, "description": "The city." },
        "disaster_type": { "enum": rules.disaster_types },
        "location": reference("Position"),
        "is_training?": is_training(),
        "partner_code?": partner_code(),
        "partner_icon?": or_null(web_address("Where the icon of the partner is.")),
    }));
    let example = json!({
        "post_id": 1_234_567_802, "created_at": "2016-12-09T11:32:52.011Z", "image_url": "http://myimg",
        "partner_city": rules.cities.first(), "disaster_type": rules.disaster_types.first(),
        "text": "A big flood", "location": { "lat": -6.149_531, "lng": 106.869_342 },
    });
    annotate(report, json!({ "examples": [example] }))
}

pub(super) fn schemas() -> Value {
    let hidden = json!({ "type": "boolean", "description": "Whether readers do not see the report." });
    let reason = "shows a person's name";
    let request = object(json!({ "hidden": hidden, "reason": name("Why; it is logged.", reason) }));
    json!({
        "Feed": object(json!({
            "feed": text("Its name."),
            "cities": array(json!({ "type": "string" })),
            "disaster_types": array(json!({ "type": "string" })),
        })),
        "PartnerReceipt": object(json!({
            "post_id": { "type": "integer" },
            "created": { "type": "boolean", "description": "Whether the request made a report; false if it was stored already." },
            "message?": text("Why it made none."),
        })),
        "VisibilityOrder": annotate(request, json!({ "examples": [{ "hidden": true, "reason": reason }] })),
        "VisibilityChange": object(json!({
            "report_id": number_as_text("The report."),
            "hidden": hidden,
            "updated": { "type": "boolean", "description": "Whether it was not so before." },
        })),
    })
}
