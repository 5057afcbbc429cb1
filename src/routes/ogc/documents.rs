use geo::Rect;
use serde_json::{Value, json};

use super::api::OPENAPI;
use super::params::{OgcParams, OgcState};
use crate::formats::tables::{Collection, GEOJSON};
use crate::http::error::Problem;
use crate::model::{AreaSelector, union_rect};

pub(super) const SCHEMA: &str = "application/schema+json";

const CRS: &str = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
/// Relation of the link to the filter columns (OGC API – Features, Part 3, not supported otherwise).
const QUERYABLES: &str = "http://www.opengis.net/def/rel/ogc/1.0/queryables";
const TIME_SYSTEM: &str = "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian";

/// The supported conformance classes (§5).
const CONFORMS_TO: [&str; 3] = [
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30",
];

fn link(href: String, rel: &str, media_type: &str, title: &str) -> Value {
    json!({ "href": href, "rel": rel, "type": media_type, "title": title })
}

fn self_link(state: &OgcState<'_>, path: &str) -> Value {
    link(state.address(path), "self", "application/json", "This document")
}

/// Returns the landing page (§7.2).
pub(super) fn landing(state: &OgcState<'_>, params: &OgcParams) -> Value {
    let texts = params.language.translations();
    let docs = format!("{}/docs", state.config.base_url.origin());
    let links = [
        self_link(state, ""),
        link(state.address("/api"), "service-desc", OPENAPI, "The description of these addresses"),
        link(docs, "service-doc", "text/html", "The description of the whole interface"),
        link(
            state.address("/conformance"),
            "conformance",
            "application/json",
            texts.text("ogc", "conformance"),
        ),
        link(state.address("/collections"), "data", "application/json", texts.text("ogc", "collections")),
    ];
    json!({ "title": texts.text("ogc", "title"), "description": texts.text("ogc", "about"), "links": links })
}

/// Returns the conformance declaration (§7.4).
pub(super) fn conformance() -> Value {
    json!({ "conformsTo": CONFORMS_TO })
}

/// Returns the list of all collections (§7.13).
pub(super) async fn collections(state: &OgcState<'_>, params: &OgcParams) -> Result<Value, Problem> {
    let bounds = extent(state).await?;
    let list = Collection::ALL.map(|collection| describe_collection(state, params, collection, bounds));
    Ok(json!({ "links": [self_link(state, "/collections")], "collections": list }))
}

/// Returns the description of one collection (§7.14).
pub(super) async fn collection(
    state: &OgcState<'_>,
    params: &OgcParams,
    collection: Collection,
) -> Result<Value, Problem> {
    Ok(describe_collection(state, params, collection, extent(state).await?))
}

/// Returns the bounds of all areas and infrastructure.
async fn extent(state: &OgcState<'_>) -> Result<Option<Rect<f64>>, Problem> {
    let places = state.renderer.store.places().await?.value;
    let no_filter = AreaSelector::default();
    let boxes = [places.areas().around(&no_filter), places.infrastructure_layer(&no_filter, None).bounds()];
    Ok(boxes.into_iter().flatten().reduce(union_rect))
}

fn describe_collection(
    state: &OgcState<'_>,
    params: &OgcParams,
    collection: Collection,
    bounds: Option<Rect<f64>>,
) -> Value {
    let path = format!("/collections/{collection}");
    let names = &params.language.translations().group("ogc")["names"][collection.name()];
    let (items, columns) = (format!("{path}/items"), format!("{path}/schema"));
    let queryables = format!("{path}/queryables");
    let mut links = vec![
        self_link(state, &path),
        link(state.address(&items), "items", GEOJSON, "The features"),
        link(state.address(&columns), "describedby", SCHEMA, "The columns"),
        link(state.address(&queryables), QUERYABLES, SCHEMA, "The columns that select features"),
    ];
    if let Some(address) = &state.config.licence.url {
        links.push(link(address.to_string(), "license", "text/html", "The licence of the data"));
    }
    let mut extent = json!({});
    if let Some(bounds) = bounds {
        let (low, high) = (bounds.min(), bounds.max());
        extent["spatial"] = json!({ "bbox": [[low.x, low.y, high.x, high.y]], "crs": CRS });
    }
    if collection.has_time() {
        extent["temporal"] = json!({ "interval": [[null, null]], "trs": TIME_SYSTEM });
    }
    json!({
        "id": collection.name(),
        "title": names["title"],
        "description": names["about"],
        "itemType": "feature",
        "crs": [CRS],
        "extent": extent,
        "links": links,
    })
}

/// Returns the columns of a collection as a JSON Schema. Every column is also a query parameter.
pub(super) fn schema(
    state: &OgcState<'_>,
    params: &OgcParams,
    collection: Collection,
    document: &str,
) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": state.address(&format!("/collections/{collection}/{document}")),
        "title": params.language.translations().group("ogc")["names"][collection.name()]["title"],
        "type": "object",
        "properties": state.renderer.tables.schema(collection),
    })
}
