//! GeoJSON of the OGC API of the U.S. Geological Survey, collection `latest-continuous`. A gauge is a *time series*; a location
//! can have several.

use super::PageResult;
use super::json::{document, items, point, text};
use crate::collector::{Collector, Reading};

pub(super) fn read(json: &str, collector: &mut Collector<'_>) -> PageResult {
    let document = document(json, "features")?;
    for feature in items(&document, "features") {
        let properties = &feature["properties"];
        collector.add(&Reading {
            gauge: text(&properties["time_series_id"]),
            name: text(&properties["monitoring_location_id"]),
            location: point(&feature["geometry"]),
            time: text(&properties["time"]),
            value: text(&properties["value"]),
            unit: text(&properties["unit_of_measure"]),
        });
    }
    Ok(items(&document, "links").find(|link| link["rel"] == "next").map(|link| text(&link["href"])))
}
