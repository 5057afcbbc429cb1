use geojson::{JsonObject, JsonValue};

use super::feature::Feature;
use crate::model::{self, Locator, Position, TEXT_OR_WHOLE, Tags, whole_number, without_zero_fraction};

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
        Tag::Text(id) => {
            let id = without_zero_fraction(&id).parse();
            Some(id.map_err(|error| format!("tags.local_area_id {error}"))?)
        }
    };
    let district_id = locator.district(local_area_id);
    for (key, value) in tags.iter().filter(|(_, value)| !value.is_null()) {
        let is_kept = match key.as_str() {
            "instance_region_code" | "local_area_id" => true,
            "district_id" => model::district_id(&value.to_string()) == district_id,
            _ => false,
        };
        if !is_kept {
            feature.note_unkept(&format!("tags.{key}"));
        }
    }
    Ok(Tags { instance_region_code, local_area_id, district_id, city: located.city })
}

enum Tag {
    Absent,
    /// Null or empty.
    Null,
    Text(String),
}

fn tag(tags: &JsonObject, key: &str) -> Result<Tag, String> {
    let wrong = || format!("tags.{key} {TEXT_OR_WHOLE}");
    match tags.get(key) {
        None => Ok(Tag::Absent),
        Some(JsonValue::Null) => Ok(Tag::Null),
        Some(JsonValue::String(text)) if text.is_empty() => Ok(Tag::Null),
        Some(JsonValue::String(text)) => Ok(Tag::Text(text.clone())),
        Some(JsonValue::Number(number)) => whole_number(&number.to_string()).map(Tag::Text).ok_or_else(wrong),
        Some(_) => Err(wrong()),
    }
}
