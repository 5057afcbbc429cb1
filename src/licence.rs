//! Under which terms the data may be used.

use serde_json::{Value, json};
use url::Url;

/// The licence in a line.
pub(crate) const TERMS: &str =
    "Non-commercial use is free with attribution; commercial use needs attribution and a separate agreement.";

/// The licence as OpenAPI has it; with the address of its text, if there is one.
pub(crate) fn described(url: Option<&Url>) -> Value {
    let mut licence = json!({ "name": TERMS });
    if let Some(url) = url {
        licence["url"] = url.as_str().into();
    }
    licence
}
