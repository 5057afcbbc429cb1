use geo::MultiPolygon;
use std::sync::Arc;

use serde_json::{Value, json};

use super::sample::Sample;
use super::{Boundaries, Description, MapResource, Offer, SelectableCodes};
use crate::model::{BoundaryLayer, Hazards, Layer, LayerKind, Region, Timestamp};
use crate::schema::{object, text};

impl MapResource for Boundaries {
    const DESCRIPTION: Description = Description {
        kind: LayerKind::Boundaries,
        path: "admin",
        selectable: |regions| SelectableCodes::new(&[], &regions.provinces),
        offer: Offer::Configured,
        preferred_format: None,
        geometries: &["Polygon", "MultiPolygon"],
        properties,
        sample,
    };
}

fn properties(_: &Hazards) -> Value {
    object(json!({ "code": text("The province (ISO 3166-2)."), "name": text("Its name.") }))
}

fn sample(sample: Sample, _: Timestamp) -> Layer {
    let region = |outline: MultiPolygon<f64>| {
        let name = sample.text("DKI Jakarta").to_owned();
        Arc::new(Region { code: "ID-JK".to_owned(), name, outline })
    };
    let outlines = [false, true].map(|in_pieces| sample.outline(in_pieces));
    Layer::Boundaries(BoundaryLayer(sample.limit(outlines.map(region))))
}
