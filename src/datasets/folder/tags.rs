use geojson::{JsonObject, JsonValue};

use super::geojson_file::Row;
use super::geometry::shape;
use crate::model::{InfrastructureShape, Position, Tags};

/// The property `tags`, or else what `locate` finds where the feature is, or begins.
pub(super) fn tags(row: &Row, locate: impl FnOnce(Position) -> Tags) -> Result<Tags, String> {
    let Some(tags) = row.object("tags")? else {
        return Ok(beginning(&shape(row.geometry()?)?).map(locate).unwrap_or_default());
    };
    let area = tag(tags, "local_area_id")?.map(str::parse).transpose();
    Ok(Tags {
        instance_region_code: tag(tags, "instance_region_code")?.map(Box::from),
        local_area_id: area.map_err(|error| format!("tags.local_area_id {error}"))?,
    })
}

/// A tag that is text; `None` when it is absent, null or empty.
fn tag<'a>(tags: &'a JsonObject, key: &str) -> Result<Option<&'a str>, String> {
    match tags.get(key) {
        None | Some(JsonValue::Null) => Ok(None),
        Some(JsonValue::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("tags.{key} must be a string")),
    }
}

fn beginning(shape: &InfrastructureShape) -> Option<Position> {
    match shape {
        InfrastructureShape::Place(place) => Some(*place),
        InfrastructureShape::Course(course) => {
            course.coords().next().and_then(|coord| Position::new(coord.x, coord.y))
        }
    }
}
