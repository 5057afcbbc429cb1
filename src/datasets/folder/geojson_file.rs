use std::path::Path;

use geojson::{JsonObject, JsonValue};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Fault, Lines, text_of};
use crate::datasets::DatasetError;
use crate::model::{NAME, Timestamp, is_name};

/// A feature of a GeoJSON file, with the line it begins on.
pub(super) struct Row {
    pub(super) line: u64,
    feature: geojson::Feature,
}

/// A feature collection whose features are still text, so that a wrong one can be named by its line.
#[derive(Deserialize)]
struct Collection<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    features: Vec<&'a RawValue>,
}

/// Makes an item of each feature of the file; none when there is no such file.
///
/// `make` answers the reason when the feature is wrong.
pub(super) fn read<T>(
    path: &Path,
    make: impl FnMut(&Row) -> Result<T, String>,
) -> Result<Vec<T>, DatasetError> {
    let Some(text) = text_of(path)? else { return Ok(Vec::new()) };
    items(&text, make).map_err(|fault| fault.in_file(path))
}

fn items<T>(text: &str, mut make: impl FnMut(&Row) -> Result<T, String>) -> Result<Vec<T>, Fault> {
    let collection: Collection<'_> = serde_json::from_str(text)
        .map_err(|error| Fault { line: error.line() as u64, reason: error.to_string() })?;
    if collection.kind != "FeatureCollection" {
        let reason = format!("type must be FeatureCollection, not {:?}", collection.kind);
        return Err(Fault { line: 1, reason });
    }
    let mut lines = Lines::of(text.as_bytes());
    let mut items = Vec::with_capacity(collection.features.len());
    for raw in collection.features {
        // The raw value is a part of `text`: its address tells where it stands.
        let line = lines.at(raw.get().as_ptr().addr() - text.as_ptr().addr());
        let fault = |reason| Fault { line, reason };
        let feature = raw.get().parse().map_err(|error: geojson::Error| fault(error.to_string()))?;
        items.push(make(&Row { line, feature }).map_err(fault)?);
    }
    Ok(items)
}

impl Row {
    /// A property that is an object.
    pub(super) fn object(&self, key: &str) -> Result<Option<&JsonObject>, String> {
        match self.feature.property(key) {
            None | Some(JsonValue::Null) => Ok(None),
            Some(JsonValue::Object(object)) => Ok(Some(object)),
            Some(_) => Err(format!("{key} must be an object")),
        }
    }

    /// A property that is a moment, and there.
    pub(super) fn moment(&self, key: &str) -> Result<Timestamp, String> {
        Timestamp::parse(&self.required(key)?).map_err(|error| format!("{key} {error}"))
    }

    /// A property that is text of several lines, perhaps; absent or null is the empty text.
    pub(super) fn prose(&self, key: &str) -> Result<&str, String> {
        match self.feature.property(key) {
            None | Some(JsonValue::Null) => Ok(""),
            Some(JsonValue::String(text)) if !text.contains('\0') => Ok(text),
            Some(_) => Err(format!("{key} must be a text without NUL characters")),
        }
    }

    /// A property that is text; a number is taken as its digits. Absent or null is the empty text.
    pub(super) fn text(&self, key: &str) -> Result<String, String> {
        let text = match self.feature.property(key) {
            None | Some(JsonValue::Null) => String::new(),
            Some(JsonValue::String(text)) => text.trim().to_owned(),
            Some(JsonValue::Number(number)) => number.to_string(),
            Some(_) => return Err(format!("{key} must be a string")),
        };
        if text.is_empty() || is_name(&text) { Ok(text) } else { Err(format!("{key} must be {NAME}")) }
    }

    /// A property that is text and not empty.
    pub(super) fn required(&self, key: &str) -> Result<String, String> {
        let text = self.text(key)?;
        if text.is_empty() { Err(format!("{key} is missing")) } else { Ok(text) }
    }

    /// The geometry.
    pub(super) fn geometry(&self) -> Result<&geojson::GeometryValue, String> {
        let geometry = self.feature.geometry.as_ref().ok_or("geometry is missing")?;
        Ok(&geometry.value)
    }
}
