//! Schemas of requests and responses, as JSON Schema (2020-12, the dialect of OpenAPI 3.1). [`resources`] describes map features.

mod cards;
mod changes;
mod common;
mod flood_batches;
mod floods;
mod gauges;
mod push;
mod reports;
pub mod resources;
mod sources;

use serde_json::{Map, Value, json};

pub(crate) use self::cards::{card_report, response_card_data};
pub(crate) use self::changes::CURSOR;
pub(crate) use self::common::{WITHOUT_CONTROLS, date_time, name, number_as_text, text, utc_date_time};
pub(crate) use self::floods::{CONFIRMED, FLOODED_SINCE, OVER_SINCE, area_id, flood_state};
pub(crate) use self::reports::partner_report;

#[must_use]
pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Returns the schema of `{"statusCode":200,"result":…}`.
#[must_use]
pub(crate) fn enveloped(result: Value) -> Value {
    object(json!({ "statusCode": { "const": 200 }, "result": result }))
}

/// Returns the schema of an envelope that repeats the properties of its `result`, which must be an [`object`].
pub(crate) fn enveloped_with_members(result: Value) -> Value {
    let mut properties = result["properties"].clone();
    properties["statusCode"] = json!({ "const": 200 });
    properties["result"] = result;
    object(properties)
}

#[must_use]
pub(crate) fn array(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// Returns the schema of the `coordinates` or `arcs` of a line, polygon or multipolygon. `part` is that of the innermost items.
pub(crate) fn lines(geometry: &str, part: Value) -> Value {
    match geometry {
        "MultiPolygon" => array(array(array(part))),
        "Polygon" => array(array(part)),
        _ => array(part),
    }
}

pub(crate) fn one_of(schemas: impl IntoIterator<Item = Value>) -> Value {
    let mut schemas: Vec<_> = schemas.into_iter().collect();
    if schemas.len() == 1 { schemas.remove(0) } else { json!({ "anyOf": schemas }) }
}

pub(crate) fn bytes() -> Value {
    json!({ "type": "string", "format": "binary" })
}

/// Returns the schema of an object with these properties; other properties are allowed. A `?` at the end marks a property as
/// optional and is not part of its name; the other properties are required.
#[must_use]
pub fn object(properties: Value) -> Value {
    let Value::Object(properties) = properties else { return json!({ "type": "object" }) };
    let required: Vec<_> = properties.keys().filter(|name| !name.ends_with('?')).cloned().collect();
    let properties =
        properties.into_iter().map(|(name, schema)| (name.trim_end_matches('?').to_owned(), schema));
    let mut schema = json!({ "type": "object", "properties": properties.collect::<Map<_, _>>() });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

pub(crate) fn annotate(mut schema: Value, keywords: Value) -> Value {
    if let (Value::Object(schema), Value::Object(keywords)) = (&mut schema, keywords) {
        schema.extend(keywords);
    }
    schema
}

/// Returns the schema with null as another allowed value.
pub(crate) fn or_null(mut schema: Value) -> Value {
    if schema.get("$ref").is_some() {
        return one_of([schema, json!({ "type": "null" })]);
    }
    if let Some(kind) = schema.get("type").cloned() {
        schema["type"] = json!([kind, "null"]);
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
    schema
}

pub(crate) fn components() -> Map<String, Value> {
    let first = [floods::schemas(), flood_batches::schemas(), changes::schemas(), common::schemas()];
    let others =
        [cards::schemas(), reports::schemas(), gauges::schemas(), sources::schemas(), push::schemas()];
    first.iter().chain(&others).filter_map(Value::as_object).flat_map(Map::clone).collect()
}
