use serde_json::{Value, json};

use crate::model::LayerKind;
use crate::schema::resources::{describe, properties};
use crate::schema::{annotate, array, lines, object, one_of};

pub(super) fn topology(kind: LayerKind, on_grid: bool) -> Value {
    let (number, arcs) = if on_grid {
        ("integer", "Lines of quantized positions, each but the first relative to the one before.")
    } else {
        ("number", "Lines of positions in degrees.")
    };
    let geometry = |name: &str| {
        let (member, value) = match name {
            "Point" => ("coordinates", array(json!({ "type": number }))),
            _ => ("arcs", lines(name, json!({ "type": "integer" }))),
        };
        object(json!({ "type": { "const": name }, "properties": properties(kind), member: value }))
    };
    let mut topology = json!({
        "type": { "const": "Topology" },
        "objects": object(json!({
            "output": object(json!({
                "type": { "const": "GeometryCollection" },
                "geometries": array(one_of(describe(kind).geometries.iter().copied().map(geometry))),
            })),
        })),
        "arcs": {
            "type": "array",
            "description": format!("{arcs} A geometry names its arcs by their index; the complement of an index (`~`) runs the \
                arc backwards. Outer rings run clockwise, holes counter-clockwise."),
            "items": array(array(json!({ "type": number }))),
        },
        "bbox": {
            "type": "array",
            "description": "West, south, east, north; of all loaded areas if there are no geometries.",
            "items": { "type": "number" }, "minItems": 4, "maxItems": 4,
        },
    });
    if on_grid {
        let pair = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
        let transform = object(json!({ "scale": pair, "translate": pair }));
        topology["transform"] =
            annotate(transform, json!({ "description": "Turns quantized positions into degrees." }));
    }
    object(topology)
}
