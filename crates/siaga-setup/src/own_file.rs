//! Reads the areas of a GeoJSON file instead of an extract.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::SetupError;
use crate::city::{Area, City, Region, code};

/// The properties that hold the numbers, the names and the larger areas.
#[derive(Default)]
pub(crate) struct Columns<'c> {
    pub(crate) id: Option<&'c str>,
    pub(crate) name: Option<&'c str>,
    pub(crate) parent: Option<&'c str>,
}

const IDS: [&str; 4] = ["area_id", "id", "ID", "OBJECTID"];
const NAMES: [&str; 4] = ["area_name", "name", "NAME", "Name"];
const PARENTS: [&str; 1] = ["parent_name"];

/// Reads the areas. `file` is the name that messages show.
pub(crate) fn read(
    file: &str,
    content: &[u8],
    columns: &Columns<'_>,
    name: &str,
    region: Option<&str>,
) -> Result<City, SetupError> {
    let failed = |reason: String| SetupError::failed(file, reason);
    let document: Value =
        serde_json::from_slice(content).map_err(|error| failed(format!("is not GeoJSON: {error}")))?;
    let Some(features) = document["features"].as_array().filter(|features| !features.is_empty()) else {
        return Err(failed("has no features: it must be a FeatureCollection of polygons".to_owned()));
    };
    let properties = |feature: &Value| feature["properties"].as_object().cloned().unwrap_or_default();
    let all: Vec<_> = features.iter().map(properties).collect();
    let find = |option: &str, given: Option<&str>, usual: &[&str]| -> Result<Option<String>, SetupError> {
        let has = |column: &str| {
            all.iter().all(|properties| properties.get(column).is_some_and(|value| !value.is_null()))
        };
        let Some(given) = given else {
            return Ok(usual.iter().find(|column| has(column)).map(|column| (*column).to_owned()));
        };
        if has(given) {
            return Ok(Some(given.to_owned()));
        }
        let names: Vec<_> = all[0].keys().map(String::as_str).collect();
        Err(failed(format!(
            "not every feature has the property {given:?} of {option}; the first has {}",
            names.join(", ")
        )))
    };
    let id = find("--id-column", columns.id, &IDS)?;
    let area_name = find("--name-column", columns.name, &NAMES)?;
    let parent = find("--parent-column", columns.parent, &PARENTS)?;
    let has_region = find("", None, &["instance_region_code"])?;
    let missing = [
        (id.is_none(), "--id-column PROPERTY"),
        (area_name.is_none(), "--name-column PROPERTY"),
        (region.is_none() && has_region.is_none(), "--region-code CODE"),
    ];
    let missing: Vec<_> = missing
        .iter()
        .filter(|(is_missing, _)| *is_missing)
        .map(|(_, option)| (*option).to_owned())
        .collect();
    if !missing.is_empty() {
        return Err(SetupError::Missing(missing));
    }
    let mut seen = HashSet::new();
    let mut city = City { name: name.to_owned(), code: code(name), ..City::default() };
    for (index, (feature, properties)) in features.iter().zip(&all).enumerate() {
        let place = format!("feature {}", index + 1);
        let text = |column: Option<&String>| column.and_then(|column| text(properties, column));
        let number = text(id.as_ref()).and_then(|number| number.trim_end_matches(".0").parse::<i64>().ok());
        let Some(number) = number else {
            return Err(failed(format!(
                "{place}: its number must be a whole number: --id-column names another property"
            )));
        };
        if !seen.insert(number) {
            return Err(failed(format!(
                "{place}: number {number} occurs twice: --id-column names another property"
            )));
        }
        check_degrees(&feature["geometry"]["coordinates"]).map_err(|at| {
            failed(format!(
                "{place} is at {at}, which are not degrees: convert it with ogr2ogr -t_srs EPSG:4326 degrees.geojson {file}"
            ))
        })?;
        let region = region.map(str::to_owned).or_else(|| text(has_region.as_ref())).unwrap_or_default();
        if !city.regions.iter().any(|known| known.code == region) {
            city.regions.push(Region { name: region.clone(), code: region.clone(), geometry: None });
        }
        city.areas.push(Area {
            id: number,
            name: text(area_name.as_ref()).unwrap_or_default(),
            parent: text(parent.as_ref()).unwrap_or_else(|| name.to_owned()),
            region,
            geometry: feature["geometry"].clone(),
        });
    }
    Ok(city)
}

fn text(properties: &Map<String, Value>, column: &str) -> Option<String> {
    match properties.get(column)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Fails with the first position that is not in degrees.
fn check_degrees(coordinates: &Value) -> Result<(), String> {
    let Some(items) = coordinates.as_array() else { return Ok(()) };
    if let [Value::Number(x), Value::Number(y), ..] = &items[..] {
        let is_degrees =
            |number: &serde_json::Number, limit| number.as_f64().is_some_and(|value| value.abs() <= limit);
        return if is_degrees(x, 180.0) && is_degrees(y, 90.0) {
            Ok(())
        } else {
            Err(json!([x, y]).to_string())
        };
    }
    items.iter().try_for_each(check_degrees)
}
