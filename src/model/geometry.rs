use geo::{Coord, LineString, MultiPolygon, Polygon, Rect};

/// The geometry of a feature, borrowed. Coordinates are WGS84 degrees, longitude first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Geometry<'a> {
    /// A position.
    Point(Coord<f64>),
    /// A line of two or more positions.
    LineString(&'a LineString<f64>),
    /// A surface in one piece, possibly with holes; every ring is closed.
    Polygon(&'a Polygon<f64>),
    /// A surface in several pieces.
    MultiPolygon(&'a MultiPolygon<f64>),
}

impl<'a> Geometry<'a> {
    /// Returns a polygon if the surface is one piece, otherwise a multipolygon.
    #[must_use]
    pub fn surface(outline: &'a MultiPolygon<f64>) -> Self {
        match outline.0.as_slice() {
            [polygon] => Self::Polygon(polygon),
            _ => Self::MultiPolygon(outline),
        }
    }

    /// Returns the bounding box; `None` without positions. Costs O(positions).
    #[must_use]
    pub fn bounds(&self) -> Option<Rect<f64>> {
        // Only the outer ring counts, because holes lie within it.
        let outer = |polygon: &Polygon<f64>| line_bounds(polygon.exterior());
        match *self {
            Self::Point(position) => Some(Rect::new(position, position)),
            Self::LineString(line) => line_bounds(line),
            Self::Polygon(polygon) => outer(polygon),
            Self::MultiPolygon(polygons) => polygons.iter().filter_map(outer).reduce(union_rect),
        }
    }

    /// Returns the number of positions in lines and rings. Costs O(rings).
    #[must_use]
    pub fn positions(&self) -> usize {
        let count = |polygon: &Polygon<f64>| {
            let holes = polygon.interiors().iter().map(|hole| hole.0.len());
            polygon.exterior().0.len() + holes.sum::<usize>()
        };
        match self {
            Self::Point(_) => 0,
            Self::LineString(line) => line.0.len(),
            Self::Polygon(polygon) => count(polygon),
            Self::MultiPolygon(polygons) => polygons.iter().map(count).sum(),
        }
    }

    /// Returns the type name in GeoJSON and TopoJSON.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Point(_) => "Point",
            Self::LineString(_) => "LineString",
            Self::Polygon(_) => "Polygon",
            Self::MultiPolygon(_) => "MultiPolygon",
        }
    }
}

pub(crate) fn union_rect(a: Rect<f64>, b: Rect<f64>) -> Rect<f64> {
    let (low, high) = (a.min(), a.max());
    Rect::new(
        Coord { x: low.x.min(b.min().x), y: low.y.min(b.min().y) },
        Coord { x: high.x.max(b.max().x), y: high.y.max(b.max().y) },
    )
}

/// Returns the bounding box. Needs no branch for each position, because the CPU could not predict such branches.
fn line_bounds(line: &LineString<f64>) -> Option<Rect<f64>> {
    let first = *line.0.first()?;
    let (low, high) = line.0.iter().fold((first, first), |(low, high), at| {
        let low = Coord { x: low.x.min(at.x), y: low.y.min(at.y) };
        (low, Coord { x: high.x.max(at.x), y: high.y.max(at.y) })
    });
    Some(Rect::new(low, high))
}
