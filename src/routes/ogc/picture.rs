//! A small map of features, as SVG.

use std::fmt::Write;

use geo::{Coord, Rect};
use serde::Serialize;
use serde_json::Value;

/// The size of the map, in units of the drawing.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
/// How much of the larger side is free around the features.
const AROUND: f64 = 0.06;

/// Features as data of SVG paths.
#[derive(Debug, Serialize)]
pub(super) struct Picture {
    shapes: Vec<Shape>,
}

#[derive(Debug, Serialize)]
struct Shape {
    /// `line`, `point`, or the class of a flood state.
    class: String,
    path: String,
}

impl Picture {
    /// Draws `GeoJSON` features; `None` if they have no position. Costs O(positions).
    pub(super) fn of(features: &[Value]) -> Option<Self> {
        let mut bounds: Option<Rect<f64>> = None;
        for feature in features {
            for line in lines(&feature["geometry"]["coordinates"]) {
                for at in line {
                    let own = Rect::new(at, at);
                    bounds = Some(bounds.map_or(own, |bounds| crate::model::around_both(bounds, own)));
                }
            }
        }
        let shown = frame(bounds?);
        let shapes = features.iter().map(|feature| {
            let geometry = &feature["geometry"];
            let is_surface = geometry["type"].as_str().is_some_and(|name| name.ends_with("Polygon"));
            let class = match (geometry["type"].as_str(), feature["properties"]["state"].as_u64()) {
                (Some("Point"), _) => "point".to_owned(),
                (Some("LineString"), _) => "line".to_owned(),
                (_, Some(state)) => format!("s{state}"),
                (_, None) => String::new(),
            };
            let mut path = String::new();
            for line in lines(&geometry["coordinates"]) {
                draw(&mut path, &line, shown, is_surface);
            }
            Shape { class, path }
        });
        Some(Self { shapes: shapes.collect() })
    }
}

/// Returns the lines of coordinates of any depth; a position is a line of one.
fn lines(coordinates: &Value) -> Vec<Vec<Coord<f64>>> {
    let position = |value: &Value| Some(Coord { x: value.get(0)?.as_f64()?, y: value.get(1)?.as_f64()? });
    if let Some(only) = position(coordinates) {
        return vec![vec![only]];
    }
    let parts = coordinates.as_array().map(Vec::as_slice).unwrap_or_default();
    if parts.first().is_some_and(|first| position(first).is_some()) {
        return vec![parts.iter().filter_map(position).collect()];
    }
    parts.iter().flat_map(lines).collect()
}

/// Returns the part of the Earth that is shown: the bounds in the middle, at the ratio of the drawing.
fn frame(bounds: Rect<f64>) -> Rect<f64> {
    let middle = bounds.center();
    let shrink = middle.y.to_radians().cos().max(0.01);
    // In degrees of latitude.
    let tall = bounds.height().max(bounds.width() * shrink * HEIGHT / WIDTH).max(0.005) * (0.5 + AROUND);
    let half = Coord { x: tall * WIDTH / HEIGHT / shrink, y: tall };
    Rect::new(middle - half, middle + half)
}

fn draw(path: &mut String, line: &[Coord<f64>], shown: Rect<f64>, is_surface: bool) {
    let mut last = None;
    for at in line {
        let x = ((at.x - shown.min().x) / shown.width() * WIDTH * 2.0).round() / 2.0;
        let y = ((shown.max().y - at.y) / shown.height() * HEIGHT * 2.0).round() / 2.0;
        if last == Some((x, y)) {
            continue;
        }
        let command = if last.is_none() { 'M' } else { 'L' };
        last = Some((x, y));
        // Writing to a text does not fail.
        let _ = write!(path, "{command}{x} {y}");
    }
    // A line back to its beginning makes a dot of a single position.
    if is_surface || line.len() == 1 {
        path.push('Z');
    }
}
