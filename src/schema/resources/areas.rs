use std::sync::Arc;

use serde_json::{Value, json};

use super::floods::{own_attributes, sample_areas};
use super::sample::Sample;
use super::{Areas, Description, MapResource, Offer, SelectableCodes};
use crate::model::{AreaLayer, AreaOutline, Hazards, Layer, LayerKind, Outline, Timestamp, label};
use crate::schema::{area_id, object, text};

impl MapResource for Areas {
    const DESCRIPTION: Description = Description {
        kind: LayerKind::Areas,
        path: "areas",
        selectable: |regions| SelectableCodes::new(&regions.cities, &regions.mapped),
        offer: Offer::Loaded,
        preferred_format: None,
        geometries: &["Polygon", "MultiPolygon"],
        properties,
        sample,
    };
}

/// Returns the schema of the properties. The requested level determines which properties are present.
fn properties(_: &Hazards) -> Value {
    object(json!({
        "area_id?": area_id(),
        "geom_id?": text("The geometry."),
        "area_name?": text("The name of the area."),
        "parent_name?": text("The name of the larger area that it is part of."),
        "city_name": text("The name of its city."),
        "attributes?": own_attributes(),
        "areas?": { "type": "integer", "minimum": 1, "description": "How many local areas it consists of." },
        "label": {
            "type": ["array", "null"], "items": { "type": "number" }, "minItems": 2, "maxItems": 2,
            "description": "Longitude and latitude of a place inside, for the label.",
        },
        "id?": text("The identifier of the city in `/regions`."),
        "region?": text("The name of the province, in `/regions`."),
        "region_code?": text("The same as `id`, in `/regions`."),
        "city?": text("The same as `city_name`, in `/regions`."),
    }))
}

fn sample(sample: Sample, _: Timestamp) -> Layer {
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
    let outlines = sample.limit(alone.chain([together]));
    Layer::Areas(AreaLayer::new(areas, outlines))
}
