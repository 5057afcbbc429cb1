use serde_json::json;

use super::{Named, area_id, array, flood_state, number_as_text, object, or_null, written_moment};
use crate::changes::Cursor;

/// Returns the schemas of changes.
pub(super) fn named() -> Named {
    let area = object(json!({
        "area_id": area_id(),
        "state": or_null(flood_state()),
        "last_updated": or_null(written_moment("When the state was set.")),
    }));
    let changed = json!({ "enum": ["reports", "gauges", "infrastructure", "areas"] });
    let delta = object(json!({
        "cursor": { "type": "string", "pattern": Cursor::PATTERN, "description": "What to send next time as `since`." },
        "full": { "type": "boolean", "description": "Whether these are all states: forget the others." },
        "areas": array(area),
        "changed": array(changed),
        "gone_reports": array(number_as_text("A report that was hidden or erased: remove it.")),
    }));
    vec![("Delta", delta)]
}
