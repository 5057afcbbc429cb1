use std::sync::Arc;

use serde_json::{Value, json};

use super::sample::Sample;
use super::{Description, Floods, MapResource, Offer, SelectableCodes};
use crate::model::{
    Area, AreaSet, Attributes, FloodLayer, FloodState, FloodStatus, Hazards, Layer, LayerKind, StateChange,
    Timestamp,
};
use crate::schema::{
    CONFIRMED, FLOODED_SINCE, OVER_SINCE, area_id, flood_state, object, or_null, text, utc_date_time,
};

impl MapResource for Floods {
    const DESCRIPTION: Description = Description {
        kind: LayerKind::Floods,
        path: "floods",
        selectable: |regions| SelectableCodes::new(&regions.cities, &regions.mapped),
        offer: Offer::Loaded,
        preferred_format: None,
        geometries: &["Polygon", "MultiPolygon"],
        properties,
        sample,
    };
}

fn properties(_: &Hazards) -> Value {
    let otherwise_absent = |description: &str| utc_date_time(&format!("{description} Otherwise absent."));
    object(json!({
        "area_id": area_id(),
        "geom_id": text("The geometry."),
        "area_name": text("The name of the area."),
        "parent_name": text("The name of the larger area that it is part of."),
        "city_name": text("The name of its city."),
        "state": or_null(flood_state()),
        "last_updated": or_null(utc_date_time("When the state was last set, confirmed or restored.")),
        "attributes?": own_attributes(),
        "flooded_since?": otherwise_absent(FLOODED_SINCE),
        "confirmed?": otherwise_absent(CONFIRMED),
        "over_since?": otherwise_absent(OVER_SINCE),
    }))
}

pub(super) fn own_attributes() -> Value {
    json!({
        "type": "object", "minProperties": 1, "additionalProperties": true,
        "description": "Further properties of the area in the data set; absent if there are none.",
    })
}

fn sample(sample: Sample, now: Timestamp) -> Layer {
    let states = [Some(FloodState::Minor), None];
    let others = [FloodState::Unknown, FloodState::Moderate, FloodState::Severe].map(Some);
    let areas = sample_areas(sample);
    let status = |state| FloodStatus::after_first(StateChange { state, at: now });
    let selected = (0..areas.len()).zip(states.into_iter().chain(others).map(status)).collect();
    Layer::Floods(FloodLayer::new(Arc::new(areas), selected))
}

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
    AreaSet::new(sample.limit(areas)).unwrap_or_default()
}

fn attributes(sample: Sample) -> Option<Attributes> {
    let attributes = json!({ "district": sample.text("Jakarta Barat"), "code": 31.74 });
    Attributes::try_from(attributes.to_string()).ok()
}
