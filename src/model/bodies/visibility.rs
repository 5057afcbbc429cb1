use serde_json::Value;

use super::fields::{Fault, Fields, Object, read};

/// Whether readers should see a report, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// Whether to hide it.
    pub hidden: bool,
    /// The reason for the log.
    pub reason: String,
}

/// Reads whether readers should see a report.
///
/// # Errors
///
/// All faults of the body.
pub fn read_visibility(body: &Object) -> Result<Visibility, Vec<Fault>> {
    read(body, |fields| {
        let hidden = fields
            .required("hidden", |fields, key| fields.convert(key, "must be true or false", Value::as_bool));
        let reason = fields.required("reason", Fields::name);
        Some(Visibility { hidden: hidden?, reason: reason?.to_owned() })
    })
}
