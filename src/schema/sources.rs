use serde_json::{Value, json};

use super::common::{text, utc_date_time};
use super::{annotate, array, object, or_null};
use crate::model::{CoveredData, SourceStatus};

pub(super) fn schemas() -> Value {
    json!({
        "DataSource": object(json!({
            "name": annotate(text("The source."), json!({ "examples": ["river-gauges"] })),
            "covers": array(json!({ "type": "string", "enum": CoveredData::ALL, "description": "Data that it is a source of." })),
            "last_heard": or_null(utc_date_time("When it last wrote or sent a heartbeat; null if never.")),
            "expected_by": or_null(utc_date_time("When it is expected again at the latest; null if it was never heard.")),
            "status": {
                "type": "string", "enum": SourceStatus::ALL,
                "description": "`ok`; `late` after `expected_by`; `silent` if it was not heard for three times as long, or never.",
            },
        })),
    })
}
