use serde_json::json;

use super::common::{name, number_as_text};
use super::{Named, object};

/// Returns the schemas of moderation.
pub(super) fn named() -> Named {
    let hidden = json!({ "type": "boolean", "description": "Whether readers do not see the report." });
    let order = json!({
        "type": "object",
        "required": ["hidden", "reason"],
        "properties": { "hidden": hidden, "reason": name("Why; it is logged.", "shows a person's name") },
        "examples": [{ "hidden": true, "reason": "shows a person's name" }],
    });
    let change = object(json!({
        "report_id": number_as_text("The report."),
        "hidden": hidden,
        "updated": { "type": "boolean", "description": "Whether it was not so before." },
    }));
    vec![("VisibilityOrder", order), ("VisibilityChange", change)]
}
