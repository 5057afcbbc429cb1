use serde_json::{Value, json};

use super::{Named, array, object, reference};
use crate::model::{InfrastructureKind, LayerKind};

/// The properties of the features of a layer.
#[must_use]
pub fn properties(kind: LayerKind) -> Value {
    reference(match kind {
        LayerKind::Floods => "FloodProperties",
        LayerKind::Reports => "ReportProperties",
        LayerKind::Gauges => "GaugeProperties",
        LayerKind::Infrastructure => "InfrastructureProperties",
        LayerKind::Boundaries => "BoundaryProperties",
    })
}

/// The types of geometry that the features of a layer have.
fn geometries(kind: LayerKind) -> &'static [&'static str] {
    match kind {
        LayerKind::Floods | LayerKind::Boundaries => &["Polygon", "MultiPolygon"],
        LayerKind::Reports | LayerKind::Gauges => &["Point"],
        LayerKind::Infrastructure => &["Point", "LineString"],
    }
}

/// A layer as GeoJSON.
pub(crate) fn feature_collection(kind: LayerKind) -> Value {
    object(json!({
        "type": { "const": "FeatureCollection" },
        "features": array(object(json!({
            "type": { "const": "Feature" },
            "geometry": object(json!({
                "type": { "enum": geometries(kind) },
                "coordinates": array(json!({})),
            })),
            "properties": properties(kind),
        }))),
    }))
}

/// A layer as TopoJSON: its positions on a grid, or in degrees.
pub(crate) fn topology(kind: LayerKind, on_grid: bool) -> Value {
    let (number, arcs) = if on_grid {
        ("integer", "Lines of quantized positions, each but the first relative to the one before.")
    } else {
        ("number", "Lines of positions in degrees.")
    };
    let geometry = json!({
        "type": "object",
        "required": ["type", "properties"],
        "properties": {
            "type": { "enum": geometries(kind) },
            "properties": properties(kind),
            "arcs": { "type": "array", "description": "Indexes of arcs; of those run backwards the complement (`~`)." },
            "coordinates": array(json!({ "type": number })),
        },
    });
    let pair = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
    let mut topology = json!({
        "type": "object",
        "required": ["type", "objects", "arcs"],
        "properties": {
            "type": { "const": "Topology" },
            "objects": object(json!({
                "output": object(json!({
                    "type": { "const": "GeometryCollection" },
                    "geometries": array(geometry),
                })),
            })),
            "arcs": {
                "type": "array",
                "description": format!("{arcs} Outer rings run clockwise, holes counter-clockwise."),
                "items": array(array(json!({ "type": number }))),
            },
            "bbox": {
                "type": "array",
                "description": "West, south, east, north; absent from an empty topology.",
                "items": { "type": "number" }, "minItems": 4, "maxItems": 4,
            },
        },
    });
    if on_grid {
        topology["properties"]["transform"] = json!({
            "type": "object",
            "description": "Turns quantized positions into degrees; absent from an empty topology.",
            "required": ["scale", "translate"],
            "properties": { "scale": pair, "translate": pair },
        });
    }
    topology
}

pub(super) fn named() -> Named {
    vec![
        (
            "InfrastructureProperties",
            object(json!({
                "name": { "type": "string", "description": "Its name." },
                "type": { "enum": InfrastructureKind::ALL },
                "tags": reference("Tags"),
            })),
        ),
        (
            "BoundaryProperties",
            object(json!({
                "code": { "type": "string", "description": "The province (ISO 3166-2)." },
                "name": { "type": "string", "description": "Its name." },
            })),
        ),
    ]
}
