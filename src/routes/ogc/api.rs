use serde_json::{Map, Value, json};

use super::documents::SCHEMA;
use super::params::{OgcState, selection_parameters};
use crate::formats::tables::{Collection, Column};

/// QGIS requires exactly this media type.
pub(super) const OPENAPI: &str = "application/vnd.oai.openapi+json;version=3.0";

/// Returns the `OpenAPI` 3.0 document of the OGC addresses (§9). `/openapi.json` describes the whole interface in 3.1.
pub(super) fn document(state: &OgcState<'_>) -> Value {
    let mut paths = Map::new();
    for (path, id, summary) in [
        ("/", "landing", "The landing page"),
        ("/conformance", "conformance", "The parts of the standard"),
        ("/collections", "collections", "The collections"),
    ] {
        paths.insert(path.to_owned(), get_operation(id, summary, Vec::new(), "application/json"));
    }
    for collection in Collection::ALL {
        let path = format!("/collections/{collection}");
        let id = |operation: &str| format!("{collection}.{operation}");
        let geojson = crate::formats::tables::GEOJSON;
        let summary = format!("Features of {collection}");
        let column_parameters = state.renderer.tables.columns(collection).iter().map(column_parameter);
        let general = selection_parameters(state.config)
            .into_iter()
            .map(|(name, description, schema)| parameter(name, description, schema));
        let parameters = general.chain(column_parameters).collect();
        let item =
            json!({ "name": "featureId", "in": "path", "required": true, "schema": { "type": "string" } });
        paths.insert(
            path.clone(),
            get_operation(&id("collection"), "The collection", Vec::new(), "application/json"),
        );
        let queryables =
            get_operation(&id("queryables"), "The columns that select features", Vec::new(), SCHEMA);
        paths.insert(format!("{path}/queryables"), queryables);
        paths.insert(format!("{path}/items"), get_operation(&id("items"), &summary, parameters, geojson));
        paths.insert(
            format!("{path}/items/{{featureId}}"),
            get_operation(&id("item"), "One feature", vec![item], geojson),
        );
    }
    json!({
        "openapi": "3.0.3",
        "info": { "title": "Siaga: OGC API – Features", "version": env!("CARGO_PKG_VERSION") },
        "servers": [{ "url": state.address("") }],
        "paths": paths,
    })
}

fn get_operation(id: &str, summary: &str, parameters: Vec<Value>, media_type: &str) -> Value {
    json!({ "get": {
        "operationId": id,
        "summary": summary,
        "parameters": parameters,
        "responses": { "200": { "description": summary, "content": { media_type: { "schema": { "type": "object" } } } } },
    } })
}

/// Adapts a parameter to OpenAPI 3.0, with `bbox` and `datetime` as OGC API – Features describes them.
fn parameter(name: &str, description: &str, mut schema: Value) -> Value {
    let mut parameter = json!({
        "name": name, "in": "query", "required": false, "description": description, "style": "form", "explode": false,
    });
    // OpenAPI 3.0 allows only one example.
    if let Some(examples) = schema.as_object_mut().and_then(|schema| schema.remove("examples")) {
        parameter["example"] = examples[0].clone();
    }
    if name == "bbox" {
        schema = json!({ "type": "array", "minItems": 4, "maxItems": 6, "items": { "type": "number" } });
        parameter["example"] = json!([106.7, -6.3, 106.9, -6.1]);
    }
    if name == "datetime" {
        schema = json!({ "type": "string" });
    }
    parameter["schema"] = schema;
    parameter
}

fn column_parameter(Column { name, kind, description }: &Column) -> Value {
    parameter(name, description, kind.schema())
}
