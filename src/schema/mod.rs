//! Schemas of requests and responses, as JSON Schema (2020-12, the dialect of OpenAPI 3.1).
//! [`resources`](crate::resources) describes the features on the map.

mod cards;
mod changes;
mod common;
mod feeds;
mod flood_orders;
mod floods;
mod gauges;
mod moderation;
mod sources;
mod stats;

use serde_json::{Map, Value, json};

pub(crate) use self::cards::{card_report, shown_card_data};
pub(crate) use self::changes::CURSOR;
pub(crate) use self::common::{WITHOUT_CONTROLS, moment, name, number_as_text, or_null, written_moment};
pub(crate) use self::feeds::partner_report;
pub(crate) use self::floods::{CONFIRMED, FLOODED_SINCE, OVER_SINCE, area_id, flood_state};
pub(crate) use self::sources::sources;
pub(crate) use self::stats::{flooded_areas, flooded_regions, reported};
/// Returns a reference to one of the document's schemas.
#[must_use]
pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Returns the schema of `{"statusCode":200,"result":…}`.
#[must_use]
pub(crate) fn enveloped(result: Value) -> Value {
    object(json!({ "statusCode": { "const": 200 }, "result": result }))
}

/// Returns the schema of the cities that the service covers, in a response about one that it does not.
pub(crate) fn coverage() -> Value {
    let mut schema = object(json!({
        "city": { "type": "string", "description": "The city that was asked for." },
        "covered": { "const": false },
        "cities": array(json!({ "type": "string" })),
    }));
    schema["description"] = "Only if no area has the `city`: the cities that the areas have.".into();
    schema
}

/// Returns the same for a result that is an [`object`]. The properties of the result are also beside it.
pub(crate) fn enveloped_with_members(result: Value) -> Value {
    let mut properties = json!({ "statusCode": { "const": 200 } });
    if let (Some(all), Some(members)) = (properties.as_object_mut(), result["properties"].as_object()) {
        all.extend(members.clone());
        all.insert("result".to_owned(), result);
    }
    object(properties)
}

/// Returns the schema of an array.
#[must_use]
pub(crate) fn array(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// Returns the schema of the lines of a geometry, whose parts have this schema: a list for a line, a list of rings for a
/// polygon, a list of polygons for several.
pub(crate) fn lines(geometry: &str, part: Value) -> Value {
    match geometry {
        "MultiPolygon" => array(array(array(part))),
        "Polygon" => array(array(part)),
        _ => array(part),
    }
}

/// Returns the schema of a value that has one of these schemas.
pub(crate) fn one_of(schemas: impl IntoIterator<Item = Value>) -> Value {
    let mut schemas: Vec<_> = schemas.into_iter().collect();
    if schemas.len() == 1 { schemas.remove(0) } else { json!({ "anyOf": schemas }) }
}

/// Returns the schema of a body of bytes.
pub(crate) fn bytes() -> Value {
    json!({ "type": "string", "format": "binary" })
}

/// Returns the schema of an object that has all of these properties, and perhaps more.
#[must_use]
pub fn object(properties: Value) -> Value {
    let required: Vec<_> = properties.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

/// Returns the schemas that have a name.
pub(crate) fn components() -> Map<String, Value> {
    let all = [common::named(), floods::named(), flood_orders::named(), gauges::named(), changes::named()];
    let named = all
        .into_iter()
        .chain([cards::named(), feeds::named(), moderation::named(), sources::named()])
        .flatten();
    named.map(|(name, schema)| (name.to_owned(), schema)).collect()
}

type Named = Vec<(&'static str, Value)>;
