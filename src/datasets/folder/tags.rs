use geojson::{JsonObject, JsonValue};

use super::feature::Feature;
use crate::model::{Locator, Position, Tags};

/// Returns the property `tags`. If a tag is absent, the place determines it; if it is null, it stays null.
pub(super) fn tags(feature: &Feature<'_>, place: Position, locator: &Locator) -> Result<Tags, String> {
    let located = locator.locate(place);
    let Some(tags) = feature.object("tags")? else { return Ok(located) };
    let kept = ["instance_region_code", "local_area_id"];
    let others = tags.iter().filter(|(key, value)| !kept.contains(&key.as_str()) && !value.is_null());
    others.for_each(|(key, _)| feature.note_unkept(&format!("tags.{key}")));
    let instance_region_code = match tag(&tags, "instance_region_code")? {
        Tag::Absent => located.instance_region_code,
        Tag::Null => None,
        Tag::Text(code) => Some(code.into()),
    };
    let local_area_id = match tag(&tags, "local_area_id")? {
        Tag::Absent => located.local_area_id,
        Tag::Null => None,
        Tag::Text(id) => Some(id.parse().map_err(|error| format!("tags.local_area_id {error}"))?),
    };
    Ok(Tags { instance_region_code, local_area_id, city: located.city })
}

enum Tag<'a> {
    Absent,
    /// Null or empty.
    Null,
    Text(&'a str),
}

fn tag<'a>(tags: &'a JsonObject, key: &str) -> Result<Tag<'a>, String> {
    match tags.get(key) {
        None => Ok(Tag::Absent),
        Some(JsonValue::Null) => Ok(Tag::Null),
        Some(JsonValue::String(text)) if text.is_empty() => Ok(Tag::Null),
        Some(JsonValue::String(text)) => Ok(Tag::Text(text)),
        Some(_) => Err(format!("tags.{key} must be a string")),
    }
}
