use geo::{Coord, LineString, MultiPolygon, Polygon};

/// The geometry of a feature, borrowed from where it is stored. Coordinates are WGS84 degrees, longitude first.
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
    /// Returns a surface: a polygon if it is in one piece, otherwise a multipolygon.
    #[must_use]
    pub fn surface(outline: &'a MultiPolygon<f64>) -> Self {
        match outline.0.as_slice() {
            [polygon] => Self::Polygon(polygon),
            _ => Self::MultiPolygon(outline),
        }
    }

    /// Returns the name of the type in GeoJSON and TopoJSON.
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
