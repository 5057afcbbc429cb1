//! `Observations` of the SensorThings API of the OGC, with their `Datastream`, its `Thing` and its `Locations`. A gauge is a
//! *Datastream*.

use serde_json::Value;

use super::PageResult;
use super::json::{document, items, list, point, text};
use crate::collector::{Collector, Reading};

pub(super) fn read(json: &str, collector: &mut Collector<'_>) -> PageResult {
    let document = document(json, "value")?;
    for observation in items(&document, "value") {
        let datastream = &observation["Datastream"];
        let thing = &datastream["Thing"];
        // A location is a geometry or a feature.
        let place = |it: &Value| point(&it["location"]).or_else(|| point(&it["location"]["geometry"]));
        collector.add(&Reading {
            gauge: text(&datastream["@iot.id"]),
            name: text(&thing["name"]),
            location: list(&thing["Locations"]).iter().find_map(place),
            // A time can be an interval: the level is known at its end.
            time: text(&observation["phenomenonTime"]).rsplit('/').next().unwrap_or_default().to_owned(),
            value: text(&observation["result"]),
            unit: text(&datastream["unitOfMeasurement"]["symbol"]),
        });
    }
    Ok(items(&document, "@iot.nextLink").next().map(|next| text(&next)))
}
