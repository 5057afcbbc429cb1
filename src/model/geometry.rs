use geo::{Coord, LineString, MultiPolygon, Polygon};

/// The shape of a feature, borrowed from wherever it is kept. Coordinates are WGS84 degrees, longitude first.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The name of the type in GeoJSON and TopoJSON.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Point(_) => "Point",
            Self::LineString(_) => "LineString",
            Self::Polygon(_) => "Polygon",
            Self::MultiPolygon(_) => "MultiPolygon",
        }
    }

    /// The polygons of a surface; none for points and lines.
    #[must_use]
    pub fn polygons(&self) -> &'a [Polygon<f64>] {
        match *self {
            Self::Point(_) | Self::LineString(_) => &[],
            Self::Polygon(polygon) => std::slice::from_ref(polygon),
            Self::MultiPolygon(polygons) => &polygons.0,
        }
    }
}
