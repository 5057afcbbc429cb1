//! Converts values of CogniCity's tables to values of the model.

use geo_traits::to_geo::ToGeoGeometry;
use geojson::GeometryValue;
use serde_json::Value;
use serde_json::value::RawValue;
use siaga::folder::place;
use siaga::model::bodies::Object;
use siaga::model::{NAME, Position, Tags, Timestamp, is_name, whole_number};

/// Geometry as well-known binary; `None` if it is null.
pub(super) struct Shape(pub(super) Option<Vec<u8>>);

impl Shape {
    pub(super) fn geometry(&self) -> Result<GeometryValue, String> {
        let bytes = self.0.as_deref().ok_or("the_geom is missing")?;
        let read = wkb::reader::read_wkb(bytes).map_err(|error| format!("the_geom: {error}"))?;
        let geometry = read.try_to_geometry().ok_or("the_geom is empty")?;
        Ok(GeometryValue::from(&geometry))
    }

    pub(super) fn place(&self) -> Result<Position, String> {
        let off =
            |_| "the_geom must be a point in degrees of longitude (-180 to 180) and latitude (-90 to 90)";
        Ok(place(&self.geometry()?).map_err(off)?)
    }
}

/// Returns a trimmed name; empty if it is null.
pub(super) fn text(column: &str, text: Option<&str>) -> Result<String, String> {
    let text = text.unwrap_or_default().trim();
    if text.is_empty() || is_name(text) {
        Ok(text.to_owned())
    } else {
        Err(format!("{column} must be {NAME}"))
    }
}

/// Returns a trimmed name; fails if it is null or empty.
pub(super) fn required(column: &str, value: Option<&str>) -> Result<String, String> {
    let text = text(column, value)?;
    if text.is_empty() { Err(format!("{column} is empty")) } else { Ok(text) }
}

/// Parses a time in UTC, in the format of `row_to_json`.
pub(super) fn moment(column: &str, text: Option<&str>) -> Result<Timestamp, String> {
    let text = text.ok_or_else(|| format!("{column} is empty"))?;
    Timestamp::parse(text).map_err(|_| format!("{column} must be a time of the years 1 to 9999"))
}

/// Returns the digits of a whole number, or any other value as JSON.
pub(super) fn digits(value: &Value) -> String {
    let json = value.to_string();
    whole_number(&json).filter(|_| value.is_number()).unwrap_or(json)
}

pub(super) fn number(column: &str, number: i64) -> Result<u64, String> {
    number.try_into().map_err(|_| format!("{column} must not be negative"))
}

/// Returns a JSON object; `None` if it is null.
pub(super) fn object(column: &str, json: Option<Box<RawValue>>) -> Result<Option<Box<RawValue>>, String> {
    let Some(json) = json else { return Ok(None) };
    if json.get().starts_with('{') { Ok(Some(json)) } else { Err(format!("{column} must be a JSON object")) }
}

/// Reads the column `tags`, in the formats of different trigger versions. Missing tags are null: they are not derived here.
pub(super) fn tags(column: Option<&Value>) -> Result<Tags, String> {
    let Some(column) = column.filter(|column| !column.is_null()) else { return Ok(Tags::default()) };
    let members = column.as_object().ok_or("tags must be a JSON object")?;
    let region = tag(members, "instance_region_code")?;
    let area = tag(members, "local_area_id")?;
    let area = area.map(|id| id.parse().map_err(|error| format!("tags.local_area_id {error}")));
    let region = region.map(|code| text("tags.instance_region_code", Some(&code)));
    Ok(Tags {
        instance_region_code: region.transpose()?.map(Box::from),
        local_area_id: area.transpose()?,
        district_id: tag(members, "district_id")?.map(Box::from),
        city: None,
    })
}

/// Returns a tag; `None` if it is missing, null, empty, or the text `null`, which older triggers write.
fn tag(members: &Object, name: &str) -> Result<Option<String>, String> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() || text == "null" => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(number @ Value::Number(_)) => Ok(Some(digits(number))),
        Some(_) => Err(format!("tags.{name} must be a text or a number")),
    }
}
