//! Encodes and decodes geometry as well-known binary (WKB), the format in which databases store geometry.

use std::error::Error;

use geo::{MultiPolygon, Point};
use geo_traits::to_geo::ToGeoGeometry;
use wkb::Endianness;
use wkb::writer::WriteOptions;

use super::StoreError;
use crate::model::{Course, Geometry, InfrastructureShape, Position};

const OPTIONS: WriteOptions = WriteOptions { endianness: Endianness::LittleEndian };

/// Encodes a geometry as well-known binary (OGC 06-103r4 §8).
pub(in crate::stores) fn shape(geometry: Geometry<'_>) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    match geometry {
        Geometry::Point(place) => wkb::writer::write_point(&mut bytes, &Point(place), &OPTIONS),
        Geometry::LineString(line) => wkb::writer::write_line_string(&mut bytes, line, &OPTIONS),
        Geometry::Polygon(polygon) => wkb::writer::write_polygon(&mut bytes, polygon, &OPTIONS),
        Geometry::MultiPolygon(surface) => wkb::writer::write_multi_polygon(&mut bytes, surface, &OPTIONS),
    }
    .map_err(invalid)?;
    Ok(bytes)
}

fn geometry(bytes: &[u8]) -> Result<geo::Geometry<f64>, StoreError> {
    Ok(wkb::reader::read_wkb(bytes).map_err(invalid)?.to_geometry())
}

pub(in crate::stores) fn outline(bytes: &[u8]) -> Result<MultiPolygon<f64>, StoreError> {
    match geometry(bytes)? {
        geo::Geometry::MultiPolygon(outline) => Ok(outline),
        _ => Err(invalid("an outline is no MultiPolygon")),
    }
}

pub(in crate::stores) fn place(bytes: &[u8]) -> Result<Position, StoreError> {
    let geo::Geometry::Point(point) = geometry(bytes)? else { return Err(invalid("a place is no Point")) };
    Position::new(point.x(), point.y()).ok_or_else(|| invalid("a place is off the globe"))
}

pub(in crate::stores) fn infrastructure_shape(bytes: &[u8]) -> Result<InfrastructureShape, StoreError> {
    let place = |coord: geo::Coord<f64>| {
        Position::new(coord.x, coord.y).ok_or_else(|| invalid("infrastructure lies off the globe"))
    };
    match geometry(bytes)? {
        geo::Geometry::Point(point) => Ok(InfrastructureShape::Place(place(point.0)?)),
        geo::Geometry::LineString(line) => {
            let positions: Vec<_> = line.0.into_iter().map(place).collect::<Result<_, _>>()?;
            let course =
                Course::new(&positions).ok_or_else(|| invalid("a line has less than 2 positions"))?;
            Ok(InfrastructureShape::Course(course))
        }
        _ => Err(invalid("infrastructure is neither a Point nor a LineString")),
    }
}

fn invalid(source: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Backend { source: source.into() }
}
