use serde_json::{Value, json};

use super::{array, object};

fn count(says: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": says })
}

/// Returns the schema of the regions with flooded areas.
pub(crate) fn flooded_regions() -> Value {
    object(json!({
        "total number of regions with flooded RWs": count("How many regions have flooded areas."),
        "regions with flooded RWs": array(json!({ "type": "string" })),
    }))
}

/// Returns the schema of the number of flooded areas by depth.
pub(crate) fn flooded_areas() -> Value {
    object(json!({
        "# hati-hati RWs": count("Areas in state 1."),
        "# 10-70cm RWs": count("Areas in state 2."),
        "# 71-150cm RWs": count("Areas in state 3."),
        "# 151cm+ RWs": count("Areas in state 4."),
    }))
}

/// Returns the schema of the number of reports by source and by disaster.
pub(crate) fn reported() -> Value {
    let counts = json!({ "type": "object", "additionalProperties": { "type": "integer", "minimum": 1 } });
    object(json!({
        "total number of reports": count("How many reports there are."),
        "by source": counts,
        "by disaster": counts,
    }))
}
