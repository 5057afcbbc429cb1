use std::sync::Arc;

use serde_json::{Value, json};

use super::sample::Sample;
use super::{MapResource, Offer, Sampled, Selectable};
use crate::model::{
    Course, Hazards, InfrastructureKind, InfrastructureLayer, InfrastructureShape, Layer, LayerKind, Regions,
    Timestamp,
};
use crate::schema::{object, reference};

/// `/infrastructure` and the paths below it: floodgates, pumps and waterways.
#[derive(Clone, Copy, Debug, Default)]
pub struct Infrastructure;

impl MapResource for Infrastructure {
    fn kind(&self) -> LayerKind {
        LayerKind::Infrastructure
    }

    fn path(&self) -> &'static str {
        "infrastructure"
    }

    fn selectable(&self, regions: &Regions) -> Selectable {
        Selectable::by(&[&regions.mapped[..], &regions.configured].concat(), &regions.mapped)
    }

    fn offer(&self) -> Offer {
        Offer::AlsoCities
    }

    fn geometries(&self) -> &'static [&'static str] {
        &["Point", "LineString"]
    }

    fn properties(&self, _: &Hazards) -> Value {
        object(json!({
            "name": { "type": "string", "description": "Its name." },
            "type": { "enum": InfrastructureKind::ALL },
            "tags": reference("Tags"),
        }))
    }
}

impl Sampled for Infrastructure {
    fn sample(&self, sample: Sample, _: Timestamp) -> Layer {
        let place = Sample::place();
        let course = Course::new(&[place, place]).map(InfrastructureShape::Course);
        let of = |kind, shape| {
            let name = sample.text("Pompa Pluit").to_owned();
            let id = "3c9b0e2d5f7a1846".to_owned();
            Arc::new(crate::model::Infrastructure { id, kind, name, tags: Sample::tags(), shape })
        };
        let pump = of(InfrastructureKind::Pumps, InfrastructureShape::Place(place));
        let course = course.map(|course| of(InfrastructureKind::Waterways, course));
        Layer::Infrastructure(InfrastructureLayer(sample.some([pump].into_iter().chain(course))))
    }
}
