use serde::Serialize;

use super::{Plane, svg_path};
use crate::model::{AreaSelector, FloodState, FloodStateRecord, Places};

const SIZE: [f64; 2] = [640.0, 400.0];
const MARGIN: f64 = 8.0;
/// The number of bytes from which no further floods are drawn. The deepest are drawn first.
const MAX_BYTES: usize = 60_000;

/// The covered land and its floods, as path data of SVG.
#[derive(Debug, Serialize)]
pub(crate) struct Overview {
    size: [f64; 2],
    land: String,
    floods: Vec<FloodPath>,
}

#[derive(Debug, Serialize)]
struct FloodPath {
    state: u8,
    path: String,
}

impl Overview {
    /// Draws all areas; `None` if none has a geometry. Costs O(positions), and merges the areas of each city on the first call.
    pub(crate) fn draw(places: &Places, floods: &[FloodStateRecord]) -> Option<Self> {
        let everything = AreaSelector::default();
        let areas = places.areas();
        let plane = Plane::fit(areas.around(&everything)?, SIZE, MARGIN);
        let land = svg_path(plane.city_rings(places, &everything).into_iter().flatten());
        let mut bytes = 0;
        let floods = FloodState::ALL.into_iter().rev().map(|state| {
            let mut path = String::new();
            for record in floods.iter().filter(|record| record.state == state) {
                if bytes + path.len() > MAX_BYTES {
                    break;
                }
                let position = areas.position(record.area_id);
                path +=
                    &svg_path(position.into_iter().flat_map(|position| plane.area_rings(areas, position)));
            }
            bytes += path.len();
            FloodPath { state: state.code(), path }
        });
        Some(Self { size: SIZE, land, floods: floods.collect() })
    }
}
