//! Reads the areas of a GeoJSON file instead of an extract.

use serde_json::{Map, Value, json};

use crate::SetupError;
use crate::boundaries::on_one_line;
use crate::city::{City, Region, code, is_region_code};
use crate::features::feature;

/// The properties that hold the numbers, the names and the larger areas.
pub(crate) struct Columns<'c> {
    pub(crate) id: Option<&'c str>,
    pub(crate) name: Option<&'c str>,
    pub(crate) parent: Option<&'c str>,
}

const REGION: &str = "instance_region_code";

/// Reads the areas, with all their properties. The import checks numbers and shapes. `file` is the name that messages show.
pub(crate) fn read(
    file: &str,
    content: &[u8],
    columns: &Columns<'_>,
    city_name: &str,
    region: Option<&str>,
) -> Result<City, SetupError> {
    let failed = |reason: String| SetupError::failed(file, reason);
    let document: Value =
        serde_json::from_slice(content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content))
            .map_err(|error| failed(format!("is not GeoJSON: {error}")))?;
    let Some(features) = document["features"].as_array().filter(|features| !features.is_empty()) else {
        return Err(failed("has no features: it must be a FeatureCollection of polygons".to_owned()));
    };
    let properties = |feature: &Value| feature["properties"].as_object().cloned().unwrap_or_default();
    let rows: Vec<_> = features.iter().map(properties).collect();
    let find = |option: &str, given: Option<&str>, usual: &[&str]| -> Result<Option<String>, SetupError> {
        let has = |column: &&str| rows.iter().any(|row| text(row, column).is_some());
        let found = given.or_else(|| usual.iter().copied().find(has));
        match found.filter(has) {
            Some(found) => Ok(Some(found.to_owned())),
            None => match given {
                Some(given) => Err(failed(format!(
                    "no feature has the property {given:?} of {option}; the first has {:?}",
                    rows[0].keys().collect::<Vec<_>>()
                ))),
                None => Ok(None),
            },
        }
    };
    let id = find("--id-column", columns.id, &["area_id", "id", "ID", "OBJECTID"])?;
    let name = find("--name-column", columns.name, &["area_name", "name", "NAME", "Name"])?;
    let parent = find("--parent-column", columns.parent, &["parent_name"])?;
    let mut missing = Vec::new();
    if region.is_none() && rows.iter().any(|row| text(row, REGION).is_none()) {
        missing.push("--region-code CODE".to_owned());
    }
    let (Some(id), Some(name), true) = (&id, &name, missing.is_empty()) else {
        missing.extend(id.is_none().then(|| "--id-column PROPERTY".to_owned()));
        missing.extend(name.is_none().then(|| "--name-column PROPERTY".to_owned()));
        return Err(SetupError::Missing(missing));
    };
    let mut city = City { name: city_name.to_owned(), code: code(city_name), ..City::default() };
    for (mut row, source) in rows.into_iter().zip(features) {
        let number = row.remove(id);
        let larger = parent.as_ref().and_then(|parent| text(&row, parent));
        let larger = larger.unwrap_or_else(|| city_name.to_owned());
        let named = [("area_name", text(&row, name).unwrap_or_default()), ("parent_name", larger)];
        city.example = city.example.or_else(|| text(&row, name));
        for column in [Some(name), parent.as_ref()].into_iter().flatten() {
            row.remove(column);
        }
        row.insert("area_id".to_owned(), number.unwrap_or_default());
        row.extend(named.map(|(key, value)| (key.to_owned(), value.into())));
        for (key, default) in [("city_name", &city.name), ("city", &city.code)] {
            row.entry(key).or_insert_with(|| default.as_str().into());
        }
        let code = region.map(str::to_owned).or_else(|| text(&row, REGION)).unwrap_or_default();
        if !is_region_code(&code) {
            return Err(failed(format!(
                "{REGION} must be a code such as ID-JK, not {code:?}: write --region-code"
            )));
        }
        row.insert(REGION.to_owned(), code.as_str().into());
        if !city.regions.iter().any(|known| known.code == code) {
            city.regions.push(Region { name: code.clone(), code, geometry: None });
        }
        city.areas.push(feature(json!(row), source["geometry"].clone()));
    }
    Ok(city)
}

fn text(row: &Map<String, Value>, column: &str) -> Option<String> {
    match row.get(column)? {
        Value::Null => None,
        Value::String(text) => Some(on_one_line(text)),
        other => Some(other.to_string()),
    }
}
