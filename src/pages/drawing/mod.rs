//! Small maps: areas as rings on a plane of pixels, as path data of SVG and as a picture.

mod overview;
mod picture;

use std::fmt::Write;

use geo::{Coord, LineString, MultiPolygon, Rect};

pub(crate) use self::overview::Overview;
pub(crate) use self::picture::{DrawnFlood, PICTURE_SIZE, Picture};
use crate::model::{AreaLevel, AreaOutline, AreaSelector, AreaSet, Places};

/// A part of the globe on a plane of pixels, undistorted in its middle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    size: Coord<f64>,
    middle: Coord<f64>,
    /// Pixels per degree of longitude and latitude.
    scale: Coord<f64>,
}

/// The corners of a ring, in whole pixels.
pub(crate) type Ring = Vec<Coord<i32>>;

/// The smallest side of a box, in degrees, so that a plane has a scale.
const LEAST: f64 = 1e-4;

/// The side of a surface that is clearly seen, in pixels.
const LEAST_PIXELS: f64 = 4.0;

impl Plane {
    /// Returns the plane of a size in pixels on which a box fills all but a margin on each side.
    pub(crate) fn fit(bbox: Rect<f64>, [width, height]: [f64; 2], margin: f64) -> Self {
        let middle = bbox.center();
        let shrink = middle.y.to_radians().cos().max(0.01);
        let across = (width - 2.0 * margin) / (bbox.width() * shrink).max(LEAST);
        let down = (height - 2.0 * margin) / bbox.height().max(LEAST);
        let scale = across.min(down);
        Self { size: Coord { x: width, y: height }, middle, scale: Coord { x: scale * shrink, y: scale } }
    }

    /// Returns the box that the plane shows.
    pub(crate) fn bbox(&self) -> Rect<f64> {
        let half = Coord { x: self.size.x / self.scale.x / 2.0, y: self.size.y / self.scale.y / 2.0 };
        Rect::new(self.middle - half, self.middle + half)
    }

    /// Returns the rings of a surface, without repeated corners. A ring within one pixel is left out. Costs O(positions).
    pub(crate) fn rings(&self, surface: &MultiPolygon<f64>) -> impl Iterator<Item = Ring> {
        let lines =
            surface.iter().flat_map(|polygon| std::iter::once(polygon.exterior()).chain(polygon.interiors()));
        lines.map(|line| self.ring(line)).filter(|ring| ring.len() > 1)
    }

    /// Returns the rings of the covered land of each selected city. Costs O(positions), and merges the areas on the first call.
    pub(crate) fn city_rings(&self, places: &Places, selector: &AreaSelector) -> Vec<Vec<Ring>> {
        let cities = places.area_layer(selector, AreaLevel::City);
        let rings = |city: &AreaOutline| match city {
            AreaOutline::Union(outline) => Some(self.rings(&outline.surface).collect()),
            AreaOutline::Area(_) | AreaOutline::City(_) => None,
        };
        cities.outlines().iter().filter_map(rings).collect()
    }

    /// Returns the rings of a local area, or a small square if it would hardly be seen; none if it has no geometry.
    pub(crate) fn area_rings(&self, areas: &AreaSet, position: usize) -> Vec<Ring> {
        let bounds = areas.bounds(position);
        bounds.map(|bounds| self.visible_rings(&areas[position].outline, bounds)).unwrap_or_default()
    }

    fn visible_rings(&self, surface: &MultiPolygon<f64>, bounds: Rect<f64>) -> Vec<Ring> {
        if bounds.width() * self.scale.x >= LEAST_PIXELS || bounds.height() * self.scale.y >= LEAST_PIXELS {
            return self.rings(surface).collect();
        }
        let half = Coord { x: 0.5 / self.scale.x, y: 0.5 / self.scale.y } * LEAST_PIXELS;
        let square = Rect::new(bounds.center() - half, bounds.center() + half).to_polygon();
        vec![self.ring(square.exterior())]
    }

    fn ring(&self, line: &LineString<f64>) -> Ring {
        let corner = |at: &Coord<f64>| Coord {
            x: pixels(self.size.x / 2.0 + (at.x - self.middle.x) * self.scale.x),
            y: pixels(self.size.y / 2.0 - (at.y - self.middle.y) * self.scale.y),
        };
        let mut ring: Ring = line.0.iter().map(corner).collect();
        ring.dedup();
        ring
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a place far outside the plane may be anywhere")]
fn pixels(exact: f64) -> i32 {
    exact.round() as i32
}

/// Writes rings as path data of SVG, with relative lines, which are short.
pub(crate) fn svg_path(rings: impl IntoIterator<Item = Ring>) -> String {
    let mut path = String::new();
    for ring in rings {
        let Some(first) = ring.first() else { continue };
        let _ = write!(path, "M{} {}l", first.x, first.y);
        for (from, to) in ring.iter().zip(ring.iter().skip(1)) {
            let (x, y) = (to.x.saturating_sub(from.x), to.y.saturating_sub(from.y));
            let _ = write!(path, "{x} {y} ");
        }
        path.push('Z');
    }
    path
}

#[cfg(test)]
mod tests {
    use geo::{Rect, coord};

    use super::*;

    #[test]
    fn a_box_fills_the_plane_and_is_as_wide_as_on_the_ground() {
        let plane = Plane::fit(
            Rect::new(coord! { x: 10.0, y: 59.0 }, coord! { x: 12.0, y: 61.0 }),
            [300.0, 220.0],
            10.0,
        );
        let drawn = |surface| svg_path(plane.rings(&surface));
        let whole = Rect::new(coord! { x: 10.0, y: 59.0 }, coord! { x: 12.0, y: 61.0 });
        // Two degrees of latitude fill the height. A degree of longitude is half as long at 60° north.
        assert_eq!(drawn(MultiPolygon::from(whole.to_polygon())), "M200 210l0 -200 -100 0 0 200 100 0 Z");
        let tiny = Rect::new(coord! { x: 11.0, y: 60.0 }, coord! { x: 11.001, y: 60.001 });
        assert_eq!(drawn(MultiPolygon::from(tiny.to_polygon())), "");
        let visible = svg_path(plane.visible_rings(&tiny.to_polygon().into(), tiny));
        assert_eq!(visible, "M152 112l0 -4 -4 0 0 4 4 0 Z", "it is small, but it is seen");
        assert!((plane.bbox().width() - 6.0).abs() < 1e-9 && (plane.bbox().height() - 2.2).abs() < 1e-9);
    }
}
