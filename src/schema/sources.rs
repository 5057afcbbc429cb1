use serde_json::{Value, json};

use super::common::{or_null, written_moment};
use super::{Named, array, object, reference};
use crate::model::{Covered, SourceStatus};

pub(super) fn named() -> Named {
    vec![(
        "DataSource",
        object(json!({
            "name": { "type": "string", "description": "The source.", "examples": ["river-gauges"] },
            "covers": array(json!({
                "type": "string", "enum": Covered::ALL, "description": "Data that it is a source of.",
            })),
            "last_heard": or_null(written_moment("When it last wrote or sent a heartbeat; null if never.")),
            "expected_by": or_null(written_moment("When it is expected again at the latest; null if it was never heard.")),
            "status": status(),
        })),
    )]
}

/// Returns the schema of the response that lists the sources.
pub(crate) fn sources() -> Value {
    object(json!({
        "statusCode": { "const": 200 },
        "result": array(reference("DataSource")),
        "stale_since": or_null(written_moment(
            "While the server cannot read from its store: the time until which its data is known to be current. Otherwise null.",
        )),
    }))
}

fn status() -> Value {
    json!({
        "type": "string",
        "enum": SourceStatus::ALL,
        "description": "`ok`; `late` after `expected_by`; `silent` if it was not heard for three times as long, or never.",
    })
}
