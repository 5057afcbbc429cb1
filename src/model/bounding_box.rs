use geo::{Coord, Intersects, Rect};

use super::Geometry;

/// A part of the map between two meridians and two parallels, whose sides lie on ten-millionths of a degree, about 1 cm apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoundingBox {
    west: i32,
    south: i32,
    east: i32,
    north: i32,
}

/// The sides of boxes lie on multiples of one degree divided by this. 180 degrees fit into 32 bits.
const UNITS: f64 = 1e7;

/// How many units the sides of rounded boxes are apart: a hundredth of a degree, about 1.1 km.
const STEP: i32 = 100_000;

impl BoundingBox {
    /// Returns the smallest box that contains two opposite corners and has its sides on hundredths of a degree, so that slightly
    /// different viewports are equal; `None` unless both are on the globe.
    #[must_use]
    pub(crate) fn around(corners: [Coord<f64>; 2]) -> Option<Self> {
        Self::rounded(corners, STEP)
    }

    /// Returns the smallest box that contains two opposite corners; `None` unless both are on the globe.
    #[must_use]
    pub(crate) fn exact(corners: [Coord<f64>; 2]) -> Option<Self> {
        Self::rounded(corners, 1)
    }

    fn rounded([one, other]: [Coord<f64>; 2], step: i32) -> Option<Self> {
        let is_on_globe = |at: Coord<f64>| at.x.abs() <= 180.0 && at.y.abs() <= 90.0;
        let steps = UNITS / f64::from(step);
        // A multiple of 0.01 is not exact in binary: without the tolerance, some would be moved outwards by one step.
        let below = |degrees: f64| (degrees * steps + 1e-6).floor() as i32 * step;
        let above = |degrees: f64| (degrees * steps - 1e-6).ceil() as i32 * step;
        (is_on_globe(one) && is_on_globe(other)).then(|| Self {
            west: below(one.x.min(other.x)),
            south: below(one.y.min(other.y)),
            east: above(one.x.max(other.x)),
            north: above(one.y.max(other.y)),
        })
    }

    /// Returns whether any point of a geometry lies in the box or on its sides. Costs O(positions).
    #[must_use]
    pub(crate) fn touches(&self, geometry: Geometry<'_>) -> bool {
        self.touches_inside(geometry, geometry.bounds())
    }

    /// Returns the same for a geometry with these bounds.
    pub(super) fn touches_inside(&self, geometry: Geometry<'_>, bounds: Option<Rect<f64>>) -> bool {
        let own = self.rect();
        let Some(around) = bounds.filter(|around| own.intersects(around)) else { return false };
        let is_inside = |at: Coord<f64>| own.intersects(&at);
        (is_inside(around.min()) && is_inside(around.max()))
            || match geometry {
                Geometry::Point(_) => true,
                Geometry::LineString(line) => line.intersects(&own),
                Geometry::Polygon(polygon) => polygon.intersects(&own),
                Geometry::MultiPolygon(polygons) => polygons.intersects(&own),
            }
    }

    /// Returns the part of the box in which something within `bounds` can lie: exactly that touches it which touches the whole
    /// box. Returns `None` if `bounds` lies in the box, because everything touches it then.
    #[must_use]
    pub(crate) fn narrowed(self, bounds: Rect<f64>) -> Option<Self> {
        // Bounds that are not on the globe narrow nothing.
        let Some(around) = Self::around([bounds.min(), bounds.max()]) else { return Some(self) };
        let narrowed = Self {
            west: self.west.max(around.west),
            south: self.south.max(around.south),
            east: self.east.min(around.east),
            north: self.north.min(around.north),
        };
        if narrowed == around {
            None
        } else if narrowed.west > narrowed.east || narrowed.south > narrowed.north {
            Some(self)
        } else {
            Some(narrowed)
        }
    }

    /// Returns its west, south, east and north, in ten-millionths of a degree.
    #[must_use]
    pub(crate) fn units(&self) -> [i32; 4] {
        [self.west, self.south, self.east, self.north]
    }

    fn rect(&self) -> Rect<f64> {
        let corner = |x: i32, y: i32| Coord { x: f64::from(x) / UNITS, y: f64::from(y) / UNITS };
        Rect::new(corner(self.west, self.south), corner(self.east, self.north))
    }
}

#[cfg(test)]
mod tests {
    use geo::{LineString, coord};

    use super::*;

    fn around(west: f64, south: f64, east: f64, north: f64) -> Option<BoundingBox> {
        BoundingBox::around([coord! { x: west, y: south }, coord! { x: east, y: north }])
    }

    #[test]
    fn a_box_is_rounded_outwards_to_hundredths_of_a_degree() {
        let exact = around(106.83, -6.39, 106.84, -6.38).unwrap();
        assert_eq!(around(106.831, -6.382, 106.8399, -6.3801), Some(exact));
        assert_eq!(around(106.84, -6.38, 106.83, -6.39), Some(exact), "corners in any order");
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
    fn a_box_is_narrowed_to_where_something_is() {
        let bounds = Rect::new(coord! { x: 106.801, y: -6.201 }, coord! { x: 106.859, y: -6.161 });
        let narrowed = |part: Option<BoundingBox>| part.unwrap().narrowed(bounds);
        assert_eq!(narrowed(around(106.80, -6.21, 106.86, -6.16)), None, "it contains everything");
        assert_eq!(narrowed(around(-180.0, -90.0, 180.0, 90.0)), None);
        assert_eq!(narrowed(around(90.0, -20.0, 106.83, 10.0)), around(106.80, -6.21, 106.83, -6.16));
        assert_eq!(narrowed(around(106.82, -6.19, 106.83, -6.18)), around(106.82, -6.19, 106.83, -6.18));
        assert_eq!(narrowed(around(1.0, 1.0, 2.0, 2.0)), around(1.0, 1.0, 2.0, 2.0), "nothing is there");
        let nowhere = Rect::new(coord! { x: 200.0, y: 0.0 }, coord! { x: 201.0, y: 1.0 });
        assert_eq!(around(0.0, 0.0, 1.0, 1.0).unwrap().narrowed(nowhere), around(0.0, 0.0, 1.0, 1.0));
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
}
