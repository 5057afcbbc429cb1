//! GeoJSON (RFC 7946) with positions of seven decimals, as in OpenStreetMap.

use geo::{Coord, LineString, MultiPolygon};
use serde_json::{Value, json};

fn position(at: &Coord) -> Value {
    let round = |degrees: f64| (degrees * 1e7).round() / 1e7;
    json!([round(at.x), round(at.y)])
}

fn positions(line: &LineString) -> Value {
    line.0.iter().map(position).collect()
}

pub(crate) fn line(line: &LineString) -> Value {
    json!({ "type": "LineString", "coordinates": positions(line) })
}

pub(crate) fn multi_polygon(shape: &MultiPolygon) -> Value {
    let polygon = |polygon: &geo::Polygon| -> Value {
        [polygon.exterior()].into_iter().chain(polygon.interiors()).map(positions).collect()
    };
    json!({ "type": "MultiPolygon", "coordinates": shape.0.iter().map(polygon).collect::<Value>() })
}

/// Returns a feature as text. A large base map is smaller as text than as values.
pub(crate) fn feature(properties: Value, geometry: Value) -> String {
    json!({ "type": "Feature", "properties": properties, "geometry": geometry }).to_string()
}

/// Writes a feature collection with one feature on each line, so that a changed feature is one changed line.
pub(crate) fn collection(features: &[String]) -> Vec<u8> {
    format!("{{\"type\":\"FeatureCollection\",\"features\":[\n{}\n]}}\n", features.join(",\n")).into_bytes()
}
