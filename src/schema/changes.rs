use serde_json::{Value, json};

use super::floods::{CONFIRMED, FLOODED_SINCE, OVER_SINCE};
use super::{
    annotate, area_id, array, flood_state, number_as_text, object, or_null, reference, utc_date_time,
};

pub(crate) const CURSOR: &str = r"^[0-9a-f]{16}(\.[0-9]{1,18}){4}$";

pub(super) fn schemas() -> Value {
    let cursor = |text: &str| json!({ "type": "string", "pattern": CURSOR, "description": text });
    let areas = array(object(json!({
        "area_id": area_id(),
        "state": or_null(flood_state()),
        "last_updated": or_null(utc_date_time("When the state was last set, confirmed or restored.")),
        "flooded_since": or_null(utc_date_time(FLOODED_SINCE)),
        "confirmed": or_null(utc_date_time(CONFIRMED)),
        "over_since": or_null(utc_date_time(OVER_SINCE)),
    })));
    let gone = array(number_as_text("A report that was hidden or erased: remove it."));
    let changed = array(json!({ "enum": ["reports", "gauges", "infrastructure", "areas"] }));
    let stale =
        object(json!({ "stale_since": utc_date_time("The states are known to be those of this time.") }));
    let event = object(json!({
        "event": { "enum": ["areas", "gone_reports", "changed", "stale"] },
        "data": { "type": "string", "contentMediaType": "application/json" },
        "id?": cursor("The cursor; browsers send it when they connect again."),
        "retry?": { "type": "integer", "minimum": 0, "description": "After how many milliseconds to connect again." },
    }));
    let data =
        [("areas", &reference("Delta")), ("gone_reports", &gone), ("changed", &changed), ("stale", &stale)];
    json!({
        "Delta": object(json!({
            "cursor": cursor("What to send next time as `since`."),
            "full": { "type": "boolean", "description": "Whether these are all states: forget the others." },
            "areas": areas,
            "changed": changed,
            "gone_reports": gone,
        })),
        "ChangeEvent": annotate(event, json!({
            "description": "A server-sent event. Comments between events keep the connection open.",
            "oneOf": data.map(|(name, schema)| json!({
                "required": ["event", "data"],
                "properties": { "event": { "const": name }, "data": { "contentSchema": schema } },
            })),
        })),
    })
}
