use std::fmt;

use geo::{Coord, Intersects, Rect};

use super::Geometry;

/// A part of the map between two meridians and two parallels. Its sides are multiples of 10⁻⁷ degrees, about 1 cm. If `west` is
/// greater than `east`, the box crosses the 180th meridian (RFC 7946 §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoundingBox {
    west: i32,
    south: i32,
    east: i32,
    north: i32,
}

/// Units per degree. 180 degrees fit into 32 bits.
const UNITS: f64 = 1e7;

/// The grid step for rounded boxes, in units: 0.01°, about 1.1 km.
const STEP: i32 = 100_000;

/// Boxes are enlarged by this many degrees (about 0.1 mm), so that a point whose coordinate was rounded to a side lies inside.
const SLACK: f64 = 1e-9;

/// 180 degrees in units.
const ANTIMERIDIAN: i32 = 1_800_000_000;

impl BoundingBox {
    /// Returns the smallest box around these sides (west, south, east, north in degrees) on a grid of 0.01°, so that slightly
    /// different viewports get the same box; `None` if a side is off the globe. South and north may be in any order.
    #[must_use]
    pub(crate) fn around(sides: [f64; 4]) -> Option<Self> {
        Self::rounded(sides, STEP)
    }

    #[must_use]
    pub(crate) fn exact(sides: [f64; 4]) -> Option<Self> {
        Self::rounded(sides, 1)
    }

    /// Rounds the sides outwards to multiples of `step` units; `None` if one is off the globe.
    fn rounded([west, south, east, north]: [f64; 4], step: i32) -> Option<Self> {
        let are_on_globe = [west, east].iter().all(|lng| lng.abs() <= 180.0)
            && [south, north].iter().all(|lat| lat.abs() <= 90.0);
        if !are_on_globe {
            return None;
        }
        let steps = UNITS / f64::from(step);
        // Multiples of 0.01 are inexact in binary. Without the tolerance, some multiples would be rounded outwards by a step.
        let round_down = |degrees: f64| (degrees * steps + 1e-6).floor() as i32 * step;
        let round_up = |degrees: f64| (degrees * steps - 1e-6).ceil() as i32 * step;
        let (mut rounded_west, mut rounded_east) = (round_down(west), round_up(east));
        if west > east && rounded_west <= rounded_east {
            // The box crosses the 180th meridian, and rounding closed the gap between its sides: it contains all longitudes.
            (rounded_west, rounded_east) = (-ANTIMERIDIAN, ANTIMERIDIAN);
        }
        Some(Self {
            west: rounded_west,
            south: round_down(south.min(north)),
            east: rounded_east,
            north: round_up(south.max(north)),
        })
    }

    /// Returns whether a geometry has a point in the box or on its sides. Costs O(positions).
    #[must_use]
    pub(crate) fn touches(&self, geometry: Geometry<'_>) -> bool {
        self.touches_inside(geometry, geometry.bounds())
    }

    pub(super) fn touches_inside(&self, geometry: Geometry<'_>, bounds: Option<Rect<f64>>) -> bool {
        self.halves().any(|half| half.touches_half(geometry, bounds))
    }

    /// The box must not cross the 180th meridian.
    fn touches_half(&self, geometry: Geometry<'_>, bounds: Option<Rect<f64>>) -> bool {
        let rect = self.rect();
        let Some(bounds) = bounds.filter(|bounds| rect.intersects(bounds)) else { return false };
        let is_inside = |at: Coord<f64>| rect.intersects(&at);
        (is_inside(bounds.min()) && is_inside(bounds.max()))
            || match geometry {
                Geometry::Point(_) => true,
                Geometry::LineString(line) => line.intersects(&rect),
                Geometry::Polygon(polygon) => polygon.intersects(&rect),
                Geometry::MultiPolygon(polygons) => polygons.intersects(&rect),
            }
    }

    /// Returns the part of the box that decides which geometries within `bounds` touch the box. `None` if the box contains
    /// `bounds`: then all these geometries touch it.
    #[must_use]
    pub(crate) fn narrowed(self, bounds: Rect<f64>) -> Option<Self> {
        // Bounds off the globe do not narrow the box.
        let (low, high) = (bounds.min(), bounds.max());
        let Some(outer) = Self::around([low.x, low.y, high.x, high.y]) else { return Some(self) };
        let narrowed: Vec<_> = self.halves().filter_map(|half| half.intersection(&outer)).collect();
        match *narrowed.as_slice() {
            [narrowed] => Some(narrowed).filter(|narrowed| *narrowed != outer),
            [first, second] => Some(Self { east: second.east, ..first }),
            _ => Some(self),
        }
    }

    /// Returns the box, or its two parts on both sides of the 180th meridian if it crosses this meridian.
    pub(crate) fn halves(&self) -> impl Iterator<Item = Self> + use<> {
        let crosses = self.west > self.east;
        let first = if crosses { Self { east: ANTIMERIDIAN, ..*self } } else { *self };
        let second = crosses.then_some(Self { west: -ANTIMERIDIAN, ..*self });
        [first].into_iter().chain(second)
    }

    /// Returns the common part, possibly a line or a point. Neither box may cross the 180th meridian.
    fn intersection(&self, other: &Self) -> Option<Self> {
        let common = Self {
            west: self.west.max(other.west),
            south: self.south.max(other.south),
            east: self.east.min(other.east),
            north: self.north.min(other.north),
        };
        (common.west <= common.east && common.south <= common.north).then_some(common)
    }

    /// Returns west, south, east and north in 10⁻⁷ degrees.
    #[must_use]
    pub(crate) fn units(&self) -> [i32; 4] {
        [self.west, self.south, self.east, self.north]
    }

    fn rect(&self) -> Rect<f64> {
        let corner = |x: i32, y: i32, slack: f64| Coord {
            x: f64::from(x) / UNITS + slack,
            y: f64::from(y) / UNITS + slack,
        };
        Rect::new(corner(self.west, self.south, -SLACK), corner(self.east, self.north, SLACK))
    }
}

impl fmt::Display for BoundingBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [west, south, east, north] = self.units().map(|side| f64::from(side) / UNITS);
        write!(f, "{west},{south},{east},{north}")
    }
}

#[cfg(test)]
mod tests {
    use geo::{LineString, coord};

    use super::*;

    fn around(west: f64, south: f64, east: f64, north: f64) -> Option<BoundingBox> {
        BoundingBox::around([west, south, east, north])
    }

    #[test]
    fn a_box_is_rounded_outwards_to_hundredths_of_a_degree() {
        let exact = around(106.83, -6.39, 106.84, -6.38).unwrap();
        assert_eq!(around(106.831, -6.382, 106.8399, -6.3801), Some(exact));
        assert_eq!(around(106.83, -6.38, 106.84, -6.39), Some(exact), "south and north in any order");
        assert_ne!(around(106.829, -6.382, 106.8399, -6.3801), Some(exact));
        for [west, south] in [[-180.1, 0.0], [0.0, -90.1], [f64::NAN, 0.0], [f64::INFINITY, 0.0]] {
            assert_eq!(around(west, south, 1.0, 1.0), None);
        }
        for hundredths in -18_000..=18_000 {
            let degrees = f64::from(hundredths) / 100.0;
            let found = around(degrees, 0.0, degrees, 0.0).unwrap();
            assert_eq!((found.west, found.east), (hundredths * STEP, hundredths * STEP));
        }
    }

    #[test]
    fn a_box_is_narrowed_to_the_bounds_of_the_data() {
        let bounds = Rect::new(coord! { x: 106.801, y: -6.201 }, coord! { x: 106.859, y: -6.161 });
        let narrowed = |part: Option<BoundingBox>| part.unwrap().narrowed(bounds);
        assert_eq!(narrowed(around(106.80, -6.21, 106.86, -6.16)), None, "it contains everything");
        assert_eq!(narrowed(around(90.0, -20.0, 106.83, 10.0)), around(106.80, -6.21, 106.83, -6.16));
        assert_eq!(narrowed(around(1.0, 1.0, 2.0, 2.0)), around(1.0, 1.0, 2.0, 2.0), "nothing is there");
    }

    #[test]
    fn a_geometry_touches_the_box_if_they_share_a_point() {
        let part = around(106.80, -6.20, 106.90, -6.10).unwrap();
        let line = |points: &[(f64, f64)]| LineString::from(points.to_vec());
        let touches = |points: &[(f64, f64)]| part.touches(Geometry::LineString(&line(points)));
        assert!(touches(&[(106.85, -6.15), (106.86, -6.14)]), "inside");
        assert!(touches(&[(106.70, -6.15), (107.00, -6.15)]), "across");
        assert!(touches(&[(106.70, -6.20), (107.00, -6.20)]), "along a side");
        assert!(!touches(&[(106.70, -6.15), (106.79, -6.15)]), "beside");
        assert!(!touches(&[(106.89, -6.30), (107.00, -6.19)]), "past a corner, although their boxes overlap");
        assert!(part.touches(Geometry::Point(coord! { x: 106.90, y: -6.10 })));
        assert!(!part.touches(Geometry::Point(coord! { x: 106.901, y: -6.10 })));
    }

    #[test]
    fn a_box_across_the_180th_meridian_is_narrowed_to_the_bounds_of_the_data() {
        let part = around(170.0, -20.0, -170.0, -10.0).unwrap();
        assert_eq!(part.to_string(), "170,-20,-170,-10");
        let whole = around(-180.0, -20.0, 180.0, -10.0);
        assert_eq!(around(106.839, -20.0, 106.831, -10.0), whole, "the gap is smaller than the rounding");
        let narrowed = |west: f64, east: f64| {
            part.narrowed(Rect::new(coord! { x: west, y: -18.0 }, coord! { x: east, y: -12.0 }))
        };
        assert_eq!(narrowed(175.0, 180.0), None, "everything is in one half");
        assert_eq!(narrowed(160.0, 175.0), around(170.0, -18.0, 175.0, -12.0));
        assert_eq!(narrowed(-175.0, 175.0), around(170.0, -18.0, -170.0, -12.0), "both halves have some");
        assert_eq!(narrowed(0.0, 1.0), Some(part), "nothing is there");
    }

    #[test]
    fn a_box_at_a_coordinate_contains_it_despite_rounding() {
        for number in 0..10_000_u32 {
            let at = coord! { x: 106.8 + f64::from(number) * 1.234_567_890_12e-5, y: -6.2 + f64::from(number) / 3e5 };
            let own = BoundingBox::exact([at.x, at.y, at.x, at.y]).unwrap();
            assert!(own.touches(Geometry::Point(at)), "{at:?}");
        }
    }
}
