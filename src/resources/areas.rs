use std::sync::Arc;

use serde_json::{Value, json};

use super::floods::sample_areas;
use super::sample::Sample;
use super::{Floods, MapResource, Offer, Sampled, Selectable};
use crate::model::{AreaLayer, AreaOutline, Hazards, Layer, LayerKind, Outline, Regions, Timestamp, label};

/// `/areas`: outlines of local areas, without states.
#[derive(Clone, Copy, Debug, Default)]
pub struct Areas;

impl MapResource for Areas {
    fn kind(&self) -> LayerKind {
        LayerKind::Areas
    }

    fn path(&self) -> &'static str {
        "areas"
    }

    fn selectable(&self, regions: &Regions) -> Selectable {
        Selectable::by(&regions.cities, &regions.mapped)
    }

    fn offer(&self) -> Offer {
        Offer::Loaded
    }

    fn geometries(&self) -> &'static [&'static str] {
        &["Polygon", "MultiPolygon"]
    }

    fn properties(&self, hazards: &Hazards) -> Value {
        let mut properties = Floods.properties(hazards);
        for (name, schema) in [
            (
                "areas",
                json!({ "type": "integer", "minimum": 1, "description": "How many local areas it consists of." }),
            ),
            (
                "label",
                json!({
                    "type": ["array", "null"], "items": { "type": "number" }, "minItems": 2, "maxItems": 2,
                    "description": "Longitude and latitude of a place inside, for the label.",
                }),
            ),
            ("id", json!({ "type": "string", "description": "The identifier of the city in `/regions`." })),
            (
                "region",
                json!({ "type": "string", "description": "The name of the province, in `/regions`." }),
            ),
            ("region_code", json!({ "type": "string", "description": "The same as `id`, in `/regions`." })),
            ("city", json!({ "type": "string", "description": "The same as `city_name`, in `/regions`." })),
        ] {
            properties["properties"][name] = schema;
        }
        if let Some(members) = properties["properties"].as_object_mut() {
            for name in ["state", "last_updated", "flooded_since", "confirmed", "over_since"] {
                members.remove(name);
            }
        }
        // What else there is depends on the level.
        properties["required"] = json!(["city_name", "label"]);
        properties
    }
}

impl Sampled for Areas {
    fn sample(&self, sample: Sample, _: Timestamp) -> Layer {
        let areas = Arc::new(sample_areas(sample));
        let alone = (0..areas.len()).map(AreaOutline::Area);
        let surface = sample.outline(true);
        let together = AreaOutline::Union(Arc::new(Outline {
            parent_name: Some(sample.text("GROGOL").to_owned()),
            city_name: sample.text("JAKARTA BARAT").to_owned(),
            city_code: "jbd".to_owned(),
            region_code: "ID-JK".to_owned(),
            areas: 2,
            label: label(&surface),
            surface,
        }));
        let outlines = sample.some(alone.chain([together]));
        Layer::Areas(AreaLayer::new(areas, outlines))
    }
}
