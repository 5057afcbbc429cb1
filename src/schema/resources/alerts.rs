use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::floods::sample_areas;
use super::sample::Sample;
use super::{Alerts, Description, Floods, MapResource, Offer};
use crate::model::alerts::{Issuer, Status, entries, messages};
use crate::model::{AlertLayer, FloodState, Hazards, Layer, LayerKind, StateChange, Timestamp};
use crate::schema::{area_id, array, flood_state, object, or_null, text, utc_date_time};

impl MapResource for Alerts {
    const DESCRIPTION: Description = Description {
        kind: LayerKind::Alerts,
        path: "alerts",
        selectable: Floods::DESCRIPTION.selectable,
        offer: Offer::Loaded,
        preferred_format: Some("atom"),
        geometries: &["Polygon", "MultiPolygon"],
        properties,
        sample,
    };
}

fn properties(_: &Hazards) -> Value {
    let one_of = |description: &str, names: &[&str]| json!({ "enum": names, "description": description });
    object(json!({
        "identifier": text("The identifier of the message."),
        "status": one_of("What the message is for.", &["Actual", "Exercise", "Test"]),
        "message_type": one_of("Whether a flood began, goes on, or is over.", &["Alert", "Update", "Cancel"]),
        "sent": utc_date_time("When the message was sent, to the second."),
        "expires": utc_date_time("Until when the message is valid, to the second."),
        "references": array(text("The identifier of an earlier message that this one replaces.")),
        "area_id": area_id(),
        "geom_id": text("The geometry of the area."),
        "area_name": text("The name of the area."),
        "parent_name": text("The name of the larger area that it is part of."),
        "city_name": text("The name of its city."),
        "state": or_null(flood_state()),
        "last_confirmed": utc_date_time("When the state was last set before the message was sent."),
    }))
}

fn sample(sample: Sample, now: Timestamp) -> Layer {
    let areas = Arc::new(sample_areas(sample));
    let changes = [(2, Some(FloodState::Minor)), (1, Some(FloodState::Severe)), (0, None)];
    let log = changes
        .map(|(hours, state)| StateChange { state, at: now.saturating_sub(Duration::from_hours(hours)) });
    let chain = messages(&entries(log), now.saturating_sub(Duration::from_hours(3)), now);
    let newest = chain.into_iter().rev().cycle();
    let layer = AlertLayer::new(Arc::clone(&areas), (0..areas.len()).zip(newest).collect());
    let issuer = Issuer::new(None, "siaga.example.org", Status::Exercise);
    Layer::Alerts(layer.at("alerts".to_owned()).changed(now).issued_by(Arc::new(issuer)))
}
