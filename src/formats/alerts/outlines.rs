//! Geometry as CAP polygons, and as those of `GeoRSS`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use geo::{BoundingRect, ConvexHull, MultiPolygon, Polygon};

use crate::formats::cap::pairs;
use crate::model::topology::simplified;
use crate::model::{Area, AreaSet};

/// How far a simplified border may be from the border, in degrees: about 10 m.
const TOLERANCE: f64 = 9e-5;

/// The most rings that an area has in `GeoRSS`, and the most positions of each: feed readers place an entry by them, the message has
/// the border itself.
const MOST_RINGS: usize = 20;
const MOST_POSITIONS: usize = 200;

/// The outer rings of the areas of a set as text: pairs of latitude and longitude, the last the same as the first.
///
/// Borders are simplified piece by piece, so that neighbours still meet.
#[derive(Debug)]
pub(super) struct Outlines {
    text: String,
    rings: Vec<Range<usize>>,
    /// Where the rings of each area end.
    ends: Vec<usize>,
    /// The rings in `GeoRSS` of the areas whose own are too many or too long, by the position of the area.
    coarse: HashMap<usize, Vec<String>>,
}

impl Outlines {
    /// Returns the rings of all areas. Costs O(positions), and more for the rings whose simplified form crosses itself.
    pub(super) fn for_areas(areas: &AreaSet) -> Self {
        let geometries: Vec<_> = areas.iter().map(Area::geometry).collect();
        let (mut text, mut rings, mut ends) = (Vec::new(), Vec::new(), Vec::with_capacity(areas.len()));
        let mut coarse = HashMap::new();
        for (position, surface) in simplified(&geometries, TOLERANCE).into_iter().enumerate() {
            if surface.0.len() > MOST_RINGS || surface.iter().any(is_long) {
                coarse.insert(position, coarser(&surface));
            }
            for polygon in surface {
                let start = text.len();
                pairs(polygon.exterior(), &mut text);
                rings.push(start..text.len());
            }
            ends.push(rings.len());
        }
        // Digits, signs, spaces and commas.
        Self { text: String::from_utf8(text).unwrap_or_default(), rings, ends, coarse }
    }

    /// Returns the rings of the area at a position of the set.
    pub(super) fn rings(&self, position: usize) -> impl Iterator<Item = &str> + Clone {
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.rings[start..self.ends[position]].iter().map(|ring| &self.text[ring.clone()])
    }

    /// Returns the rings of the area at a position of the set for `GeoRSS`, where spaces separate all numbers. A ring that is too long
    /// is the hull around it; too many rings are the one hull around all.
    pub(super) fn georss(&self, position: usize) -> impl Iterator<Item = Cow<'_, str>> {
        let coarse = self.coarse.get(&position);
        let own = self.rings(position).take(if coarse.is_some() { 0 } else { usize::MAX });
        let coarse = coarse.into_iter().flatten().map(|ring| Cow::Borrowed(ring.as_str()));
        coarse.chain(own.map(|ring| Cow::Owned(spaced(ring))))
    }
}

fn spaced(ring: &str) -> String {
    ring.replace(',', " ")
}

fn is_long(polygon: &Polygon<f64>) -> bool {
    polygon.exterior().0.len() > MOST_POSITIONS
}

/// Returns the rings of a surface for `GeoRSS`, within the limits.
fn coarser(surface: &MultiPolygon<f64>) -> Vec<String> {
    let written = |polygon: &Polygon<f64>| {
        let mut text = Vec::new();
        pairs(polygon.exterior(), &mut text);
        spaced(&String::from_utf8(text).unwrap_or_default())
    };
    if surface.0.len() > MOST_RINGS {
        return vec![written(&bounded(surface.convex_hull()))];
    }
    let shorter = |polygon: &Polygon<f64>| {
        if is_long(polygon) { written(&bounded(polygon.convex_hull())) } else { written(polygon) }
    };
    surface.iter().map(shorter).collect()
}

/// Returns a hull; the box around it if it is too long.
fn bounded(hull: Polygon<f64>) -> Polygon<f64> {
    match hull.bounding_rect().filter(|_| is_long(&hull)) {
        Some(around) => around.to_polygon(),
        None => hull,
    }
}
