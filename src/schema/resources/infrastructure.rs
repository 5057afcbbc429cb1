use std::sync::Arc;

use serde_json::{Value, json};

use super::sample::Sample;
use super::{Description, Infrastructure, MapResource, Offer, SelectableCodes};
use crate::model::{
    Course, Hazards, InfrastructureKind, InfrastructureLayer, InfrastructureShape, Layer, LayerKind,
    Timestamp,
};
use crate::schema::{object, reference, text};

impl MapResource for Infrastructure {
    const DESCRIPTION: Description = Description {
        kind: LayerKind::Infrastructure,
        path: "infrastructure",
        selectable: |regions| {
            SelectableCodes::new(&[&regions.mapped[..], &regions.configured].concat(), &regions.mapped)
        },
        offer: Offer::AlsoCities,
        preferred_format: None,
        geometries: &["Point", "LineString"],
        properties,
        sample,
    };
}

fn properties(_: &Hazards) -> Value {
    object(json!({
        "name": text("Its name."),
        "type": { "enum": InfrastructureKind::ALL },
        "tags": reference("Tags"),
    }))
}

fn sample(sample: Sample, _: Timestamp) -> Layer {
    let place = Sample::place();
    let course = Course::new(&[place, place]).map(InfrastructureShape::Course);
    let feature = |kind, shape| {
        let name = sample.text("Pompa Pluit").to_owned();
        let id = "3c9b0e2d5f7a1846".to_owned();
        Arc::new(crate::model::Infrastructure { id, kind, name, tags: Sample::tags(), shape })
    };
    let pump = feature(InfrastructureKind::Pumps, InfrastructureShape::Place(place));
    let course = course.map(|course| feature(InfrastructureKind::Waterways, course));
    Layer::Infrastructure(InfrastructureLayer(sample.limit([pump].into_iter().chain(course))))
}
