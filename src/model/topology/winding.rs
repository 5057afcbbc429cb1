use geo::Coord;

/// The direction of a ring around its inside, on a map with north at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Winding {
    Clockwise,
    CounterClockwise,
}

impl Winding {
    /// Returns the winding of a closed ring; `None` if it encloses nothing.
    pub(super) fn from_ring(ring: impl Iterator<Item = Coord<f64>> + Clone) -> Option<Self> {
        let area = area(ring);
        if area == 0.0 {
            None
        } else if area > 0.0 {
            Some(Self::Clockwise)
        } else {
            Some(Self::CounterClockwise)
        }
    }
}

/// Returns a number with the sign of the enclosed area on the sphere: positive if clockwise. Clients that draw on the sphere,
/// such as d3, connect positions by great circles, which are curves on a map. They fill the outside of counter-clockwise rings,
/// however small these are. So if a ring is nearly flat on the map, its winding on the sphere counts.
fn area(ring: impl Iterator<Item = Coord<f64>> + Clone) -> f64 {
    let mut positions = ring.clone();
    let Some(first) = positions.next() else { return 0.0 };
    let (mut doubled, mut last) = (0.0, Coord::zero());
    let (mut low, mut high) = (last, last);
    for position in positions {
        let at = position - first;
        doubled += at.x * last.y - last.x * at.y;
        low = Coord { x: at.x.min(low.x), y: at.y.min(low.y) };
        high = Coord { x: at.x.max(high.x), y: at.y.max(high.y) };
        last = at;
    }
    let Coord { x: width, y: height } = high - low;
    // An upper bound of the area between a ring's straight lines and its great circles, in square degrees up to 70° of latitude.
    let max_difference = 0.01 * width * (width * width + height * height);
    if doubled.abs() > max_difference { doubled } else { area_on_sphere(ring) }
}

/// Returns the enclosed area in steradians, modulo the area of the whole sphere.
fn area_on_sphere(ring: impl Iterator<Item = Coord<f64>> + Clone) -> f64 {
    ring.clone().zip(ring.skip(1)).map(|(from, to)| signed_area_to_equator(from, to)).sum()
}

/// Returns the area between the equator and the great circle from one position to another. It is negative if the circle either
/// runs west or lies south of the equator.
fn signed_area_to_equator(from: Coord<f64>, to: Coord<f64>) -> f64 {
    let half_tangent = |degrees: f64| (degrees.to_radians() / 2.0).tan();
    let (from_height, to_height) = (half_tangent(from.y), half_tangent(to.y));
    let across = half_tangent(to.x - from.x) * (from_height + to_height);
    2.0 * across.atan2(1.0 + from_height * to_height)
}
