//! Helpers for JSON of unknown quality. Missing and wrong members are `null`, an empty text or an empty list.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::gauge::Location;

/// The members of a document. Only one item of a list at a time is parsed, because its values need several times its size.
pub(super) type Document<'a> = HashMap<String, &'a RawValue>;

/// Parses a document that must have `list`.
pub(super) fn document<'a>(text: &'a str, list: &str) -> Result<Document<'a>, String> {
    let found: Document<'_> = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
    let has_list = found.contains_key(list);
    has_list.then_some(found).ok_or_else(|| format!("it has no {list}: correct address or kind"))
}

/// Returns the items of a list, or a single value as the only item.
pub(super) fn items<'a>(document: &Document<'a>, list: &str) -> impl Iterator<Item = Value> + use<'a> {
    let raw = document.get(list).copied();
    let items: Option<Vec<&RawValue>> = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let items = items.unwrap_or_else(|| raw.into_iter().collect());
    items.into_iter().map(|item| serde_json::from_str(item.get()).unwrap_or_default())
}

/// Returns the items of a list, or a single value as the only item.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// Returns a text, or the digits of a number.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

pub(super) fn location(lat: &Value, lng: &Value) -> Option<Location> {
    Some(Location { lat: text(lat).parse().ok()?, lng: text(lng).parse().ok()? })
}

/// Returns the location of a GeoJSON point.
pub(super) fn point(geometry: &Value) -> Option<Location> {
    location(&geometry["coordinates"][1], &geometry["coordinates"][0])
}
