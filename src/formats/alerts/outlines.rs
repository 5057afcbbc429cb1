//! Geometry as CAP polygons.

use std::ops::Range;

use crate::formats::cap::pairs;
use crate::model::topology::simplified;
use crate::model::{Area, AreaSet};

/// How far a simplified border may be from the border, in degrees: about 10 m.
const TOLERANCE: f64 = 9e-5;

/// The outer rings of the areas of a set as text: pairs of latitude and longitude, the last the same as the first.
///
/// Borders are simplified piece by piece, so that neighbours still meet.
#[derive(Debug)]
pub(super) struct Outlines {
    text: String,
    rings: Vec<Range<usize>>,
    /// Where the rings of each area end.
    ends: Vec<usize>,
}

impl Outlines {
    /// Returns the rings of all areas. Costs O(positions), and more for the rings whose simplified form crosses itself.
    pub(super) fn of_all(areas: &AreaSet) -> Self {
        let geometries: Vec<_> = areas.iter().map(Area::geometry).collect();
        let (mut text, mut rings, mut ends) = (Vec::new(), Vec::new(), Vec::with_capacity(areas.len()));
        for surface in simplified(&geometries, TOLERANCE) {
            for polygon in surface {
                let start = text.len();
                pairs(polygon.exterior(), &mut text);
                rings.push(start..text.len());
            }
            ends.push(rings.len());
        }
        // Digits, signs, spaces and commas.
        Self { text: String::from_utf8(text).unwrap_or_default(), rings, ends }
    }

    /// Returns the rings of the area at a position of the set.
    pub(super) fn of(&self, position: usize) -> impl Iterator<Item = &str> + Clone {
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.rings[start..self.ends[position]].iter().map(|ring| &self.text[ring.clone()])
    }
}
