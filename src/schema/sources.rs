use serde_json::{Value, json};

use super::common::{or_null, written_moment};
use super::{Named, array, object};
use crate::config::Covered;
use crate::sources::SourceStatus;

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

fn status() -> Value {
    json!({
        "type": "string",
        "enum": SourceStatus::ALL,
        "description": "`ok`; `late` after `expected_by`; `silent` if it was not heard for three times as long, or never.",
    })
}
