use serde_json::{Value, json};

use super::common::{text, written_moment};
use super::{annotate, array, object, or_null};
use crate::model::{CoveredData, SourceStatus};

pub(super) fn named() -> Value {
    json!({
        "DataSource": object(json!({
            "name": annotate(text("The source."), json!({ "examples": ["river-gauges"] })),
            "covers": array(json!({ "type": "string", "enum": CoveredData::ALL, "description": "Data that it is a source of." })),
            "last_heard": or_null(written_moment("When it last wrote or sent a heartbeat; null if never.")),
            "expected_by": or_null(written_moment("When it is expected again at the latest; null if it was never heard.")),
            "status": {
                "type": "string", "enum": SourceStatus::ALL,
                "description": "`ok`; `late` after `expected_by`; `silent` if it was not heard for three times as long, or never.",
            },
        })),
    })
}
