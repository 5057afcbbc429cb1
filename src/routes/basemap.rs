use std::sync::Arc;

use rocket::tokio::time;
use rocket::{State, get};
use serde_json::json;

use crate::basemap::Basemap;
use crate::config::Config;
use crate::described;
use crate::error::Problem;
use crate::guards::{Caller, KnownRevision, Param, Within, Zoom};
use crate::model::GroundKind;
use crate::openapi::Described;
use crate::rendering::{Answer, Renderer};
use crate::schema::{array, object, one_of};
use crate::stores::Store;

/// Returns the routes of the resource.
pub(super) fn routes() -> Vec<Described> {
    let position = array(json!({ "type": "integer" }));
    let pair = array(json!({ "type": "number" }));
    let kind = json!({ "type": "string", "enum": GroundKind::ALL.map(GroundKind::name) });
    let mut properties = object(json!({ "kind": kind }));
    properties["properties"]["name"] = json!({ "type": "string", "description": "Absent if it has none." });
    let shape = |kind: &str, arcs: serde_json::Value| {
        object(json!({ "type": { "const": kind }, "arcs": arcs, "properties": properties }))
    };
    let numbers = array(array(json!({ "type": "integer" })));
    let point =
        object(json!({ "type": { "const": "Point" }, "coordinates": position, "properties": properties }));
    let shapes =
        one_of([shape("MultiLineString", numbers.clone()), shape("MultiPolygon", array(numbers)), point]);
    let collection =
        object(json!({ "type": { "const": "GeometryCollection" }, "geometries": array(shapes) }));
    let topology = object(json!({
        "type": { "const": "Topology" },
        "transform": object(json!({ "scale": pair, "translate": pair })),
        "arcs": array(array(position)),
        "objects": object(json!({ "basemap": collection })),
    }));
    vec![
        described!(show_basemap)
            .says("Roads, rails, rivers, parks and names of places, simplified for a zoom, as TopoJSON")
            .shares(topology),
    ]
}

/// `GET /basemap`: responds with a part of the base map.
#[get("/basemap")]
pub(super) async fn show_basemap(
    _caller: Caller,
    within: Param<Within>,
    zoom: Param<Zoom>,
    known: KnownRevision,
    renderer: &State<Arc<Renderer>>,
    basemap: &State<Basemap>,
    store: &State<Arc<dyn Store>>,
    config: &State<Config>,
) -> Result<Answer, Problem> {
    let ground = time::timeout(config.limits.timeout, basemap.ground(&***store));
    let ground = ground.await.map_err(Problem::late)??;
    let drawn = ground.draw(within.0, zoom.0, &renderer.permits).await?;
    Ok(Answer::shared(&drawn).of_version(&ground.version, &known))
}
