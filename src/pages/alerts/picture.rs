//! A small map of an area, as SVG.

use std::fmt::Write;

use geo::{Coord, Rect};
use serde::Serialize;

use crate::formats::alerts::Notice;
use crate::model::AreaSet;

/// The size of the map, in units of the drawing.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 200.0;

/// How much of the surroundings is shown on each side, as a part of the larger side of the area.
const AROUND: f64 = 0.7;

/// The most areas that are drawn around one.
const MOST: usize = 80;

/// The area, and those around it: data of SVG paths.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Picture {
    area: String,
    around: String,
}

impl Picture {
    /// Draws the area of a message; `None` if it has no outline. Costs O(areas), and O(positions) of those that are drawn.
    pub(super) fn draw(notice: &Notice<'_>, areas: &AreaSet) -> Option<Self> {
        let own = notice.alert.position;
        let shown = frame(areas.bounds(own)?);
        let mut around = String::new();
        for position in areas.near(shown).filter(|position| *position != own).take(MOST) {
            draw(&mut around, notice.polygons_at(position), shown);
        }
        let mut area = String::new();
        draw(&mut area, notice.polygons(), shown);
        (!area.is_empty()).then_some(Self { area, around })
    }
}

/// Returns the part of the Earth that is shown: the area in the middle, at the ratio of the drawing.
fn frame(bounds: Rect<f64>) -> Rect<f64> {
    let middle = bounds.center();
    let shrink = middle.y.to_radians().cos().max(0.01);
    // In degrees of latitude.
    let side = (bounds.width() * shrink).max(bounds.height()).max(1e-4) * (0.5 + AROUND);
    let (tall, wide) = (side, side * WIDTH / HEIGHT / shrink);
    let half = Coord { x: wide, y: tall };
    Rect::new(middle - half, middle + half)
}

/// Appends rings, which are pairs of latitude and longitude as text.
fn draw<'a>(path: &mut String, rings: impl Iterator<Item = &'a str>, shown: Rect<f64>) {
    for ring in rings {
        let mut last = None;
        for pair in ring.split(' ') {
            let Some((lat, lng)) = pair.split_once(',') else { continue };
            let (Ok(lat), Ok(lng)) = (lat.parse::<f64>(), lng.parse::<f64>()) else { continue };
            let x = ((lng - shown.min().x) / shown.width() * WIDTH * 2.0).round() / 2.0;
            let y = ((shown.max().y - lat) / shown.height() * HEIGHT * 2.0).round() / 2.0;
            if last == Some((x, y)) {
                continue;
            }
            let command = if last.is_none() { 'M' } else { 'L' };
            last = Some((x, y));
            // Writing to a text does not fail.
            let _ = write!(path, "{command}{x} {y}");
        }
        if last.is_some() {
            path.push('Z');
        }
    }
}
