use serde_json::{Value, json};

use super::{array, object};

fn count(says: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": says })
}

/// What flooded areas lie in.
pub(crate) fn flooded_regions() -> Value {
    object(json!({
        "total number of regions with flooded RWs": count("How many regions have flooded areas."),
        "regions with flooded RWs": array(json!({ "type": "string" })),
    }))
}

/// Flooded areas by the depth of their water.
pub(crate) fn flooded_areas() -> Value {
    object(json!({
        "# hati-hati RWs": count("Areas in state 1."),
        "# 10-70cm RWs": count("Areas in state 2."),
        "# 71-150cm RWs": count("Areas in state 3."),
        "# 151cm+ RWs": count("Areas in state 4."),
    }))
}

/// Reports by where they came from and what they are about.
pub(crate) fn reported() -> Value {
    let counts = json!({ "type": "object", "additionalProperties": { "type": "integer", "minimum": 1 } });
    object(json!({
        "total number of reports": count("How many reports there are."),
        "by source": counts,
        "by disaster": counts,
    }))
}
