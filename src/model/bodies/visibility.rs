use serde_json::Value;

use super::fields::{Fault, Fields, Object, read};

/// Whether readers should see a report, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visibility {
    /// Whether to hide it.
    pub(crate) hidden: bool,
    /// The reason for the log.
    pub(crate) reason: String,
}

/// Reads whether readers should see a report.
///
/// # Errors
///
/// All faults of the body.
pub(crate) fn read_visibility(body: &Object) -> Result<Visibility, Vec<Fault>> {
    read(body, |fields| {
        let hidden = fields
            .required("hidden", |fields, key| fields.convert(key, "must be true or false", Value::as_bool));
        let reason = fields.required("reason", Fields::name);
        Some(Visibility { hidden: hidden?, reason: reason?.to_owned() })
    })
}

/// Reads the body of an order to hide reports: the reason.
pub(crate) fn read_reason(body: &Object) -> Result<String, Vec<Fault>> {
    read(body, |fields| fields.required("reason", Fields::name).map(str::to_owned))
}
