use geo::LineString;

use crate::model::AreaSet;
use crate::model::numbers;

/// The XML `polygon` elements of all areas as one text, and the offset at which each area's elements end.
#[derive(Debug)]
pub(super) struct Polygons {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Polygons {
    pub(super) fn for_areas(areas: &AreaSet) -> Self {
        let (mut text, mut ends) = (Vec::new(), Vec::with_capacity(areas.len()));
        for area in areas {
            for polygon in &area.outline {
                text.extend_from_slice(b"<polygon>");
                pairs(polygon.exterior(), &mut text);
                text.extend_from_slice(b"</polygon>");
            }
            ends.push(text.len());
        }
        Self { text, ends }
    }

    pub(super) fn get(&self, position: usize) -> &[u8] {
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[position]]
    }
}

/// Writes a ring for CAP: pairs of latitude and longitude, the last pair equal to the first.
pub(in crate::formats) fn pairs(ring: &LineString<f64>, out: &mut Vec<u8>) {
    for (index, position) in ring.coords().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        numbers::plain_float(position.y, out);
        out.push(b',');
        numbers::plain_float(position.x, out);
    }
}
