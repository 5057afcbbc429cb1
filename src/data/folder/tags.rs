use geojson::{JsonObject, JsonValue};

use super::feature::Feature;
use crate::model::{self, Locator, Position, TEXT_OR_WHOLE, Tags, whole_number, without_zero_fraction};

/// Returns the property `tags`. The place determines absent tags and always the district; null tags stay null.
pub(super) fn tags(feature: &Feature<'_>, place: Position, locator: &Locator) -> Result<Tags, String> {
    let located = locator.locate(place);
    let Some(tags) = feature.object("tags")? else { return Ok(located) };
    let instance_region_code = match tag(&tags, "instance_region_code")? {
        None => located.instance_region_code,
        Some(code) => Some(code).filter(|code| !code.is_empty()).map(Box::from),
    };
    let local_area_id = match tag(&tags, "local_area_id")?.as_deref() {
        None => located.local_area_id,
        Some("") => None,
        Some(id) => {
            let id = without_zero_fraction(id).parse();
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
            feature.note_ignored(&format!("tags.{key}"));
        }
    }
    Ok(Tags { instance_region_code, local_area_id, district_id, city: located.city })
}

/// Returns a tag: empty if it is null, `None` if it is absent.
fn tag(tags: &JsonObject, key: &str) -> Result<Option<String>, String> {
    let text = match tags.get(key) {
        None => return Ok(None),
        Some(JsonValue::Null) => Some(String::new()),
        Some(JsonValue::String(text)) => Some(text.clone()),
        Some(other) => whole_number(&other.to_string()),
    };
    text.map(Some).ok_or_else(|| format!("tags.{key} {TEXT_OR_WHOLE}"))
}
