//! Geometry of areas as the text of CAP and `GeoRSS` polygons.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use geo::{BoundingRect, ConvexHull, MultiPolygon, Polygon};

use crate::formats::cap::pairs;
use crate::model::topology::simplified;
use crate::model::{Area, AreaSet};

/// The maximum deviation of a simplified border in degrees: about 10 m.
const TOLERANCE: f64 = 9e-5;

/// Limits of an area's `GeoRSS`, which feed readers use only to place an entry. The CAP message has all rings.
const MAX_RINGS: usize = 20;
const MAX_POSITIONS: usize = 200;

/// The outer rings of a set of areas as text: pairs of latitude and longitude, the last pair equal to the first. A border that
/// two areas share is simplified only once, so that neighbours still meet.
#[derive(Debug)]
pub(super) struct Outlines {
    text: String,
    rings: Vec<Range<usize>>,
    /// For each area, the index in `rings` after its last ring.
    ends: Vec<usize>,
    coarse: HashMap<usize, Vec<String>>,
}

impl Outlines {
    /// Builds the text of all rings. Costs O(positions), and more for rings that cross themselves when simplified.
    pub(super) fn for_areas(areas: &AreaSet) -> Self {
        let geometries: Vec<_> = areas.iter().map(Area::geometry).collect();
        let (mut text, mut rings, mut ends) = (Vec::new(), Vec::new(), Vec::with_capacity(areas.len()));
        let mut coarse = HashMap::new();
        for (position, surface) in simplified(&geometries, TOLERANCE).into_iter().enumerate() {
            if surface.0.len() > MAX_RINGS || surface.iter().any(is_long) {
                coarse.insert(position, coarse_rings(&surface));
            }
            for polygon in surface {
                let start = text.len();
                pairs(polygon.exterior(), &mut text);
                rings.push(start..text.len());
            }
            ends.push(rings.len());
        }
        Self { text: String::from_utf8(text).unwrap_or_default(), rings, ends, coarse }
    }

    pub(super) fn rings(&self, position: usize) -> impl Iterator<Item = &str> + Clone {
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.rings[start..self.ends[position]].iter().map(|ring| &self.text[ring.clone()])
    }

    /// Returns the `GeoRSS` rings of an area, as numbers separated by spaces. Replaces a ring that is too long by its convex
    /// hull, and too many rings by one hull around all of them.
    pub(super) fn georss(&self, position: usize) -> impl Iterator<Item = Cow<'_, str>> {
        let coarse = self.coarse.get(&position);
        let exact = self.rings(position).take(if coarse.is_some() { 0 } else { usize::MAX });
        let coarse = coarse.into_iter().flatten().map(|ring| Cow::Borrowed(ring.as_str()));
        coarse.chain(exact.map(|ring| Cow::Owned(space_separated(ring))))
    }
}

fn space_separated(ring: &str) -> String {
    ring.replace(',', " ")
}

fn is_long(polygon: &Polygon<f64>) -> bool {
    polygon.exterior().0.len() > MAX_POSITIONS
}

/// Returns the outer rings, and replaces long ones by their convex hulls. More than `MAX_RINGS` rings become one hull.
fn coarse_rings(surface: &MultiPolygon<f64>) -> Vec<String> {
    let ring_text = |polygon: &Polygon<f64>| {
        let mut text = Vec::new();
        pairs(polygon.exterior(), &mut text);
        space_separated(&String::from_utf8(text).unwrap_or_default())
    };
    if surface.0.len() > MAX_RINGS {
        return vec![ring_text(&bounded_hull(surface.convex_hull()))];
    }
    let shorter = |polygon: &Polygon<f64>| {
        if is_long(polygon) { ring_text(&bounded_hull(polygon.convex_hull())) } else { ring_text(polygon) }
    };
    surface.iter().map(shorter).collect()
}

fn bounded_hull(hull: Polygon<f64>) -> Polygon<f64> {
    match hull.bounding_rect().filter(|_| is_long(&hull)) {
        Some(around) => around.to_polygon(),
        None => hull,
    }
}
