use geojson::{JsonObject, JsonValue};

use super::feature::Feature;
use crate::model::{Locator, Position, Tags};

/// Returns the property `tags`. If a tag is absent, the place determines it; if it is null, it stays null. The district is that of the
/// local area, whichever the file names.
pub(super) fn tags(feature: &Feature<'_>, place: Position, locator: &Locator) -> Result<Tags, String> {
    let located = locator.locate(place);
    let Some(tags) = feature.object("tags")? else { return Ok(located) };
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
    let district_id = locator.district(local_area_id);
    for (key, value) in tags.iter().filter(|(_, value)| !value.is_null()) {
        let is_kept = match key.as_str() {
            "instance_region_code" | "local_area_id" => true,
            "district_id" => value.as_str() == district_id.as_deref(),
            _ => false,
        };
        if !is_kept {
            feature.note_unkept(&format!("tags.{key}"));
        }
    }
    Ok(Tags { instance_region_code, local_area_id, district_id, city: located.city })
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
