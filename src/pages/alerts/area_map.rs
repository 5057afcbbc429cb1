use serde::Serialize;

use crate::formats::alerts::Notice;
use crate::model::AreaSet;
use crate::pages::drawing::{Plane, svg_path};

const SIZE: [f64; 2] = [640.0, 400.0];
/// Margin on each side, in pixels.
const MARGIN: f64 = 120.0;

const MAX_NEIGHBOURS: usize = 80;

/// A small map of an area and its neighbours, as SVG path data.
#[derive(Clone, Debug, Serialize)]
pub(super) struct AreaMap {
    size: [f64; 2],
    area: String,
    around: String,
}

impl AreaMap {
    /// Draws the area of a message; `None` if the area has no geometry. Costs O(areas), and O(positions) of the drawn areas.
    pub(super) fn draw(notice: &Notice<'_>, areas: &AreaSet) -> Option<Self> {
        let main = notice.alert.position;
        let plane = Plane::fit(areas.bounds(main)?, SIZE, MARGIN);
        let near = areas.near(plane.bbox()).filter(|position| *position != main).take(MAX_NEIGHBOURS);
        let around = svg_path(near.flat_map(|position| plane.rings(&areas[position].outline)));
        let area = svg_path(plane.rings(&notice.alert.area.outline));
        (!area.is_empty()).then_some(Self { size: SIZE, area, around })
    }
}
