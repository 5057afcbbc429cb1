use std::sync::Arc;

use serde_json::{Value, json};

use super::sample::Sample;
use super::{MapResource, Offer, Sampled, Selectable};
use crate::model::{
    Area, AreaSet, Attributes, FloodLayer, FloodState, FloodStatus, Hazards, Layer, LayerKind, Regions,
    StateChange, Timestamp,
};
use crate::schema::{
    CONFIRMED, FLOODED_SINCE, OVER_SINCE, area_id, flood_state, object, or_null, written_moment,
};

/// `/floods` and the paths below it: local areas with their flood states.
#[derive(Clone, Copy, Debug, Default)]
pub struct Floods;

impl MapResource for Floods {
    fn kind(&self) -> LayerKind {
        LayerKind::Floods
    }

    fn path(&self) -> &'static str {
        "floods"
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

    fn properties(&self, _: &Hazards) -> Value {
        let mut properties = object(json!({
            "area_id": area_id(),
            "geom_id": { "type": "string", "description": "The geometry." },
            "area_name": { "type": "string", "description": "The name of the area." },
            "parent_name": { "type": "string", "description": "The name of the larger area that it is part of." },
            "city_name": { "type": "string", "description": "The name of its city." },
            "state": or_null(flood_state()),
            "last_updated": or_null(written_moment("When the state was last set, confirmed or restored.")),
        }));
        // Present only where the data set has attributes, so it is not required.
        properties["properties"]["attributes"] = json!({
            "type": "object", "minProperties": 1, "additionalProperties": true,
            "description": "Further properties of the area in the data set; absent if there are none.",
        });
        for (name, says) in
            [("flooded_since", FLOODED_SINCE), ("confirmed", CONFIRMED), ("over_since", OVER_SINCE)]
        {
            properties["properties"][name] = written_moment(&format!("{says} Otherwise absent."));
        }
        properties
    }
}

impl Sampled for Floods {
    fn sample(&self, sample: Sample, now: Timestamp) -> Layer {
        let states = [Some(FloodState::Minor), None];
        let others = [FloodState::Unknown, FloodState::Moderate, FloodState::Severe].map(Some);
        let areas = sample_areas(sample);
        let status = |state| FloodStatus::after_first(StateChange { state, at: now });
        let selected = (0..areas.len()).zip(states.into_iter().chain(others).map(status)).collect();
        Layer::Floods(FloodLayer::new(Arc::new(areas), selected))
    }
}

/// Returns the areas of a made-up layer.
pub(super) fn sample_areas(sample: Sample) -> AreaSet {
    let areas = (1..=5).filter_map(|number: u64| {
        Some(Area {
            id: number.try_into().ok()?,
            geom_id: format!("317404000400900{number}"),
            name: sample.text("RW 09").to_owned(),
            parent_name: if number == 2 { String::new() } else { sample.text("GROGOL").to_owned() },
            city_name: sample.text("JAKARTA BARAT").to_owned(),
            city_code: "jbd".to_owned(),
            region_code: "ID-JK".to_owned(),
            attributes: if number == 2 { attributes(sample) } else { None },
            outline: sample.outline(number == 3),
        })
    });
    AreaSet::new(sample.some(areas)).unwrap_or_default()
}

fn attributes(sample: Sample) -> Option<Attributes> {
    let attributes = json!({ "district": sample.text("Jakarta Barat"), "code": 31.74 });
    Attributes::try_from(attributes.to_string()).ok()
}
