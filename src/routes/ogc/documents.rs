use geo::Rect;
use serde_json::{Value, json};

use super::api::OPENAPI;
use super::params::{OgcParams, OgcState};
use crate::formats::tables::{Collection, GEOJSON};
use crate::http::error::Problem;
use crate::model::{AreaSelector, around_both};

/// The media type of schemas.
pub(super) const SCHEMA: &str = "application/schema+json";

const CRS: &str = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
/// The relation of links to the columns that are parameters (OGC API – Features, Part 3, whose filters the service does not have).
const QUERYABLES: &str = "http://www.opengis.net/def/rel/ogc/1.0/queryables";
const TIME_SYSTEM: &str = "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian";

/// The classes of requirements that the service conforms to (§5).
const CONFORMS_TO: [&str; 3] = [
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30",
];

fn link(href: String, rel: &str, media_type: &str, title: &str) -> Value {
    json!({ "href": href, "rel": rel, "type": media_type, "title": title })
}

/// Returns the link to a document itself.
fn own_link(site: &OgcState<'_>, path: &str) -> Value {
    link(site.address(path), "self", "application/json", "This document")
}

/// Returns the landing page (§7.2).
pub(super) fn landing(site: &OgcState<'_>, asked: &OgcParams) -> Value {
    let texts = asked.language.translations();
    let docs = format!("{}/docs", site.config.base_url.origin());
    let links = [
        own_link(site, ""),
        link(site.address("/api"), "service-desc", OPENAPI, "The description of these addresses"),
        link(docs, "service-doc", "text/html", "The description of the whole interface"),
        link(
            site.address("/conformance"),
            "conformance",
            "application/json",
            texts.text("ogc", "conformance"),
        ),
        link(site.address("/collections"), "data", "application/json", texts.text("ogc", "collections")),
    ];
    json!({ "title": texts.text("ogc", "title"), "description": texts.text("ogc", "about"), "links": links })
}

/// Returns the classes of requirements (§7.4).
pub(super) fn conformance() -> Value {
    json!({ "conformsTo": CONFORMS_TO })
}

/// Returns all collections (§7.13).
///
/// # Errors
///
/// Any error of the store.
pub(super) async fn collections(site: &OgcState<'_>, asked: &OgcParams) -> Result<Value, Problem> {
    let around = around(site).await?;
    let all = Collection::ALL.map(|collection| described(site, asked, collection, around));
    Ok(json!({ "links": [own_link(site, "/collections")], "collections": all }))
}

/// Returns one collection (§7.14).
///
/// # Errors
///
/// Any error of the store.
pub(super) async fn collection(
    site: &OgcState<'_>,
    asked: &OgcParams,
    collection: Collection,
) -> Result<Value, Problem> {
    Ok(described(site, asked, collection, around(site).await?))
}

/// Returns the box around all areas and all infrastructure; `None` if there are none.
async fn around(site: &OgcState<'_>) -> Result<Option<Rect<f64>>, Problem> {
    let places = site.renderer.store.places().await?.value;
    let everything = AreaSelector::default();
    let boxes = [places.areas().around(&everything), places.infrastructure_layer(&everything, None).bounds()];
    Ok(boxes.into_iter().flatten().reduce(around_both))
}

fn described(
    site: &OgcState<'_>,
    asked: &OgcParams,
    collection: Collection,
    around: Option<Rect<f64>>,
) -> Value {
    let path = format!("/collections/{collection}");
    let names = &asked.language.translations().group("ogc")["names"][collection.name()];
    let (items, columns) = (format!("{path}/items"), format!("{path}/schema"));
    let queryables = format!("{path}/queryables");
    let mut links = vec![
        own_link(site, &path),
        link(site.address(&items), "items", GEOJSON, "The features"),
        link(site.address(&columns), "describedby", SCHEMA, "The columns"),
        link(site.address(&queryables), QUERYABLES, SCHEMA, "The columns that select features"),
    ];
    if let Some(address) = &site.config.licence.url {
        links.push(link(address.to_string(), "license", "text/html", "The licence of the data"));
    }
    let mut extent = json!({});
    if let Some(around) = around {
        let (low, high) = (around.min(), around.max());
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

/// Returns the columns of a collection as a JSON Schema, as the document of this name below it. All columns are parameters.
pub(super) fn schema(
    site: &OgcState<'_>,
    asked: &OgcParams,
    collection: Collection,
    document: &str,
) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": site.address(&format!("/collections/{collection}/{document}")),
        "title": asked.language.translations().group("ogc")["names"][collection.name()]["title"],
        "type": "object",
        "properties": site.renderer.tables.schema(collection),
    })
}
