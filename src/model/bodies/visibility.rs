use serde_json::Value;

use super::fields::{Fault, Fields, Object, read};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visibility {
    pub(crate) hidden: bool,
    pub(crate) reason: String,
}

pub(crate) fn read_visibility(body: &Object) -> Result<Visibility, Vec<Fault>> {
    read(body, |fields| {
        let hidden = fields
            .required("hidden", |fields, key| fields.convert(key, "must be true or false", Value::as_bool));
        let reason = fields.required("reason", Fields::name);
        Some(Visibility { hidden: hidden?, reason: reason?.to_owned() })
    })
}

pub(crate) fn read_reason(body: &Object) -> Result<String, Vec<Fault>> {
    read(body, |fields| fields.required("reason", Fields::name).map(str::to_owned))
}
