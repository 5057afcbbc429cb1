use std::sync::Arc;

use rocket::tokio::time;
use rocket::{State, get};
use serde_json::{Value, json};

use crate::config::Config;
use crate::described;
use crate::guards::{BboxParam, Caller, QueryParam, RevisionParam, Zoom};
use crate::http::error::Problem;
use crate::model::BasemapKind;
use crate::openapi::Described;
use crate::rendering::basemap::Basemap;
use crate::rendering::{ApiResponse, Renderer};
use crate::schema::{array, object, one_of, text};
use crate::stores::Store;

pub(super) fn routes() -> Vec<Described> {
    let integers = array(json!({ "type": "integer" }));
    let pair = array(json!({ "type": "number" }));
    let properties = object(json!({
        "kind": { "type": "string", "enum": BasemapKind::ALL.map(BasemapKind::name) },
        "name?": text("Absent if it has none."),
    }));
    let shape = |kind: &str, member: &str, value: Value| {
        object(json!({ "type": { "const": kind }, member: value, "properties": properties }))
    };
    let shapes = one_of([
        shape("MultiLineString", "arcs", array(integers.clone())),
        shape("MultiPolygon", "arcs", array(array(integers.clone()))),
        shape("Point", "coordinates", integers.clone()),
    ]);
    let topology = object(json!({
        "type": { "const": "Topology" },
        "transform": object(json!({ "scale": pair, "translate": pair })),
        "arcs": array(array(integers)),
        "objects": object(json!({
            "basemap": object(json!({ "type": { "const": "GeometryCollection" }, "geometries": array(shapes) })),
        })),
    }));
    vec![
        described!(show_basemap)
            .summary("Roads, rails, rivers, parks and names of places, simplified for a zoom, as TopoJSON")
            .cached_result(topology),
    ]
}

#[get("/basemap")]
pub(super) async fn show_basemap(
    _caller: Caller,
    within: QueryParam<BboxParam>,
    zoom: QueryParam<Zoom>,
    known: RevisionParam,
    renderer: &State<Arc<Renderer>>,
    basemap: &State<Basemap>,
    store: &State<Arc<dyn Store>>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let snapshot = time::timeout(config.limits.timeout, basemap.snapshot(&***store));
    let snapshot = snapshot.await.map_err(Problem::slow_store)??;
    let drawn = snapshot.draw(within.0, zoom.0, &renderer.permits).await?;
    Ok(ApiResponse::shared(&drawn).with_version(&snapshot.version, &known))
}
