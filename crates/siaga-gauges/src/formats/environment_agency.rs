//! The flood-monitoring interface of the Environment Agency of England: `readings`, and `stations` for their names and locations.
//! A gauge is a *measure*; a station can have several.

use serde_json::Value;

use super::PageResult;
use super::json::{document, items, list, location, text};
use crate::collector::{Collector, Reading};

pub(super) fn read(json: &str, collector: &mut Collector<'_>) -> PageResult {
    for item in items(&document(json, "items")?, "items") {
        let read = if item["measures"].is_null() { add } else { describe };
        read(&item, collector);
    }
    Ok(None)
}

fn add(reading: &Value, collector: &mut Collector<'_>) {
    let gauge = notation(&reading["measure"]);
    // The notation has the parameter: 1029TH-level-stage-i-15_min-mASD, 1029TH-flow--i-15_min-m3_s.
    if !gauge.is_empty() && !gauge.contains("-level-") {
        return collector.omissions.add(("not a water level", ""), 1, &gauge);
    }
    let (time, value) = (text(&reading["dateTime"]), text(&reading["value"]));
    collector.add(&Reading { gauge, time, value, ..Reading::default() });
}

/// Records the name and location of a station for its measures.
fn describe(station: &Value, collector: &mut Collector<'_>) {
    // Some stations have a list of labels or coordinates.
    let first = |name: &str| list(&station[name]).first().cloned().unwrap_or_default();
    let (label, location) = (text(&first("label")), location(&first("lat"), &first("long")));
    for measure in list(&station["measures"]).iter().filter(|measure| notation(measure).contains("-level-")) {
        let name = match text(&measure["qualifier"]).as_str() {
            "" | "Stage" => label.clone(),
            qualifier => format!("{label} ({qualifier})"),
        };
        let reading = Reading { gauge: notation(measure), name, location, ..Reading::default() };
        // A gauge that is not listed has no reading here that could be left out.
        let _ = collector.describe(&reading);
    }
}

/// Returns the end of the address of a measure, which identifies it.
fn notation(measure: &Value) -> String {
    let address = if measure.is_object() { text(&measure["@id"]) } else { text(measure) };
    address.rsplit('/').next().unwrap_or_default().to_owned()
}
