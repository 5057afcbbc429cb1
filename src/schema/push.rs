use serde_json::{Value, json};

use super::{annotate, area_id, array, flood_state, name, object, text};
use crate::model::bodies::MAX_PUSH_AREAS;

pub(super) fn schemas() -> Value {
    let areas =
        json!({ "minItems": 1, "maxItems": MAX_PUSH_AREAS, "description": "The areas; or `parent`." });
    json!({
        "PushSubscription": object(json!({
            "endpoint": text("The `endpoint` of the browser's subscription: an https address of a known push service."),
            "keys": object(json!({
                "p256dh": text("The browser's public key, in base64url."),
                "auth": text("The browser's secret for messages, in base64url."),
            })),
            "areas?": annotate(array(area_id()), areas),
            "parent?": annotate(object(json!({
                "parent_name": name("The larger area.", "GROGOL"),
                "city_name?": text("Its city."),
            })), json!({ "description": "A larger area, instead of `areas`: messages are about the areas that it has then." })),
            "language": text("The code of a language of the pages."),
            "minimum_state?": annotate(flood_state(), json!({ "description": "Only floods of this state or above." })),
        })),
    })
}
