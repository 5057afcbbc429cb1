use std::fmt::Write;

use geo::{Coord, Rect};
use serde::Serialize;

use crate::formats::alerts::Notice;
use crate::model::AreaSet;

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 200.0;

/// Margin on each side, as a fraction of the longer side of the area.
const MARGIN: f64 = 0.7;

const MAX_NEIGHBOURS: usize = 80;

/// A small map of an area and its neighbours, as SVG path data.
#[derive(Clone, Debug, Serialize)]
pub(super) struct AreaMap {
    area: String,
    around: String,
}

impl AreaMap {
    /// Draws the area of a message; `None` if the area has no geometry. Costs O(areas), and O(positions) of the drawn areas.
    pub(super) fn draw(notice: &Notice<'_>, areas: &AreaSet) -> Option<Self> {
        let main = notice.alert.position;
        let extent = map_extent(areas.bounds(main)?);
        let mut around = String::new();
        for position in areas.near(extent).filter(|position| *position != main).take(MAX_NEIGHBOURS) {
            draw_rings(&mut around, notice.polygons_at(position), extent);
        }
        let mut area = String::new();
        draw_rings(&mut area, notice.polygons(), extent);
        (!area.is_empty()).then_some(Self { area, around })
    }
}

/// Returns the extent of the map: the area in the middle, with a margin, in the aspect ratio of the drawing.
fn map_extent(bounds: Rect<f64>) -> Rect<f64> {
    let middle = bounds.center();
    let shrink = middle.y.to_radians().cos().max(0.01);
    let side = (bounds.width() * shrink).max(bounds.height()).max(1e-4) * (0.5 + MARGIN);
    let (tall, wide) = (side, side * WIDTH / HEIGHT / shrink);
    let half = Coord { x: wide, y: tall };
    Rect::new(middle - half, middle + half)
}

fn draw_rings<'a>(path: &mut String, rings: impl Iterator<Item = &'a str>, extent: Rect<f64>) {
    for ring in rings {
        let mut last = None;
        for pair in ring.split(' ') {
            let Some((lat, lng)) = pair.split_once(',') else { continue };
            let (Ok(lat), Ok(lng)) = (lat.parse::<f64>(), lng.parse::<f64>()) else { continue };
            let x = ((lng - extent.min().x) / extent.width() * WIDTH * 2.0).round() / 2.0;
            let y = ((extent.max().y - lat) / extent.height() * HEIGHT * 2.0).round() / 2.0;
            if last == Some((x, y)) {
                continue;
            }
            let command = if last.is_none() { 'M' } else { 'L' };
            last = Some((x, y));
            let _ = write!(path, "{command}{x} {y}");
        }
        if last.is_some() {
            path.push('Z');
        }
    }
}
