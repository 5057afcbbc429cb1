use geo::MultiPolygon;
use std::sync::Arc;

use serde_json::{Value, json};

use super::sample::Sample;
use super::{MapResource, Sampled, Selectable};
use crate::model::{BoundaryLayer, Hazards, Layer, LayerKind, Region, Regions, Timestamp};
use crate::schema::object;

/// `/admin`: provinces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Boundaries;

impl MapResource for Boundaries {
    fn kind(&self) -> LayerKind {
        LayerKind::Boundaries
    }

    fn path(&self) -> &'static str {
        "admin"
    }

    fn selectable(&self, regions: &Regions) -> Selectable {
        Selectable::by(&[], &regions.provinces)
    }

    fn geometries(&self) -> &'static [&'static str] {
        &["Polygon", "MultiPolygon"]
    }

    fn properties(&self, _: &Hazards) -> Value {
        object(json!({
            "code": { "type": "string", "description": "The province (ISO 3166-2)." },
            "name": { "type": "string", "description": "Its name." },
        }))
    }
}

impl Sampled for Boundaries {
    fn sample(&self, sample: Sample, _: Timestamp) -> Layer {
        let region = |outline: MultiPolygon<f64>| {
            let name = sample.text("DKI Jakarta").to_owned();
            Arc::new(Region { code: "ID-JK".to_owned(), name, outline })
        };
        let outlines = [false, true].map(|in_pieces| sample.outline(in_pieces));
        Layer::Boundaries(BoundaryLayer(sample.some(outlines.map(region))))
    }
}
