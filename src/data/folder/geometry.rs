//! Converts GeoJSON geometry to geometry of the model.

use geo::orient::{Direction, Orient};
use geo::{Coord, LineString, MultiPolygon, Polygon};
use geojson::{GeometryValue, Position};

use super::validity::Fault;
use crate::model::{Course, InfrastructureShape, Position as Place};

const TOO_SHORT: &str = "geometry has a line of less than 2 positions";

pub(super) const ADVICE: &str =
    "correct it there, or have it repaired: siaga import --repair, or ogr2ogr -makevalid";

/// Returns the polygons of a GeoJSON surface, wound as RFC 7946 §3.1.6 requires: outer rings counter-clockwise.
///
/// # Errors
///
/// The reason, if the geometry is not a surface, or a ring is open, too short or off the globe.
pub fn outline(geometry: &GeometryValue) -> Result<MultiPolygon<f64>, String> {
    match close_rings(geometry)? {
        (outline, None) => Ok(outline),
        (_, Some(fault)) => Err(format!("geometry {fault}; {ADVICE}")),
    }
}

/// Like [`outline`], but closes open rings, drops collapsed rings and polygons whose outer ring has collapsed, and returns the
/// first fault of the rings. The result may be empty.
pub(super) fn close_rings(geometry: &GeometryValue) -> Result<(MultiPolygon<f64>, Option<Fault>), String> {
    let polygons = match surface(geometry) {
        GeometryValue::Polygon { coordinates } => std::slice::from_ref(coordinates),
        GeometryValue::MultiPolygon { coordinates } => coordinates.as_slice(),
        other => {
            let kind = other.type_name();
            return Err(format!("geometry must be a Polygon or MultiPolygon, not a {kind}"));
        }
    };
    if polygons.is_empty() {
        return Err("geometry has no polygon".to_owned());
    }
    let mut first = None;
    let mut valid = Vec::with_capacity(polygons.len());
    for rings in polygons {
        let mut rings = rings.iter().map(|positions| ring(positions, &mut first));
        let exterior = rings.next().transpose()?.flatten();
        let interiors: Vec<_> = rings.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        match exterior {
            Some(exterior) => valid.push(Polygon::new(exterior, interiors)),
            None => {
                first.get_or_insert(Fault::new("has a polygon without an outer ring", None));
            }
        }
    }
    Ok((MultiPolygon(valid).orient(Direction::Default), first))
}

/// Returns the surface of a collection of one surface, points and lines: other programs create such collections when they repair
/// geometry. Returns other geometry unchanged.
fn surface(geometry: &GeometryValue) -> &GeometryValue {
    let GeometryValue::GeometryCollection { geometries } = geometry else { return geometry };
    let is_thin = |value: &GeometryValue| {
        use GeometryValue::{LineString, MultiLineString, MultiPoint, Point};
        matches!(value, Point { .. } | MultiPoint { .. } | LineString { .. } | MultiLineString { .. })
    };
    let mut surfaces = geometries.iter().map(|geometry| &geometry.value).filter(|value| !is_thin(value));
    match (surfaces.next(), surfaces.next()) {
        (Some(surface), None) => surface,
        _ => geometry,
    }
}

/// Returns a closed ring; `None` if it has less than 3 different positions. Stores a fault in `first` if `first` is empty.
fn ring(positions: &[Position], first: &mut Option<Fault>) -> Result<Option<LineString<f64>>, String> {
    let mut ring: Vec<Coord<f64>> = positions.iter().map(coord).collect::<Result<_, _>>()?;
    let start = ring.first().copied();
    let mut note_fault = |what| {
        first.get_or_insert(Fault::new(what, start));
    };
    let distinct = |coord: &&Coord<f64>| Some(**coord) != start;
    let another = ring.iter().find(distinct);
    if ring.iter().filter(distinct).all(|coord| Some(coord) == another) {
        note_fault("has a ring of less than 3 different positions");
        return Ok(None);
    }
    if start != ring.last().copied() {
        note_fault("has a ring whose last position is not its first");
        ring.extend(start);
    }
    Ok(Some(LineString(ring)))
}

/// Returns the place of a GeoJSON point, or of a multipoint with one point.
///
/// # Errors
///
/// The reason, if the geometry is not a single point, or the point is off the globe.
pub fn place(geometry: &GeometryValue) -> Result<Place, String> {
    match geometry {
        GeometryValue::Point { coordinates } => position(coordinates),
        GeometryValue::MultiPoint { coordinates } if coordinates.len() == 1 => position(&coordinates[0]),
        other => Err(format!("geometry must be a Point, not a {}", other.type_name())),
    }
}

/// Returns the places of GeoJSON points or the courses of lines, one for each part.
///
/// # Errors
///
/// The reason, if the geometry has neither points nor lines, or a part is too short or off the globe.
pub fn shapes(geometry: &GeometryValue) -> Result<Vec<InfrastructureShape>, String> {
    let parts: Vec<_> = match geometry {
        GeometryValue::Point { coordinates } => vec![point(coordinates)?],
        GeometryValue::MultiPoint { coordinates } => {
            coordinates.iter().map(point).collect::<Result<_, _>>()?
        }
        GeometryValue::LineString { coordinates } => vec![course(coordinates)?],
        GeometryValue::MultiLineString { coordinates } => {
            coordinates.iter().map(|line| course(line)).collect::<Result<_, _>>()?
        }
        other => {
            let kind = other.type_name();
            return Err(format!("geometry must be points or lines, not a {kind}"));
        }
    };
    if parts.is_empty() { Err("geometry is empty".to_owned()) } else { Ok(parts) }
}

fn point(coordinates: &Position) -> Result<InfrastructureShape, String> {
    position(coordinates).map(InfrastructureShape::Place)
}

fn course(coordinates: &[Position]) -> Result<InfrastructureShape, String> {
    let positions: Vec<_> = coordinates.iter().map(position).collect::<Result<_, _>>()?;
    Ok(InfrastructureShape::Course(Course::new(&positions).ok_or(TOO_SHORT)?))
}

pub(super) fn line(coordinates: &[Position]) -> Result<LineString<f64>, String> {
    let line: Vec<Coord<f64>> = coordinates.iter().map(coord).collect::<Result<_, _>>()?;
    if line.len() < 2 { Err(TOO_SHORT.to_owned()) } else { Ok(LineString(line)) }
}

fn coord(coordinates: &Position) -> Result<Coord<f64>, String> {
    position(coordinates).map(Place::coord)
}

fn position(coordinates: &Position) -> Result<Place, String> {
    let place = match coordinates.as_slice() {
        &[lng, lat, ..] => Place::new(lng, lat),
        _ => None,
    };
    place.ok_or_else(|| {
        let found = coordinates.as_slice();
        let advice = match found {
            &[lat, lng, ..] if Place::new(lng, lat).is_some() => "is latitude written first? Longitude comes first",
            _ => "convert the file, for example with ogr2ogr -t_srs EPSG:4326 converted.geojson FILE",
        };
        format!("geometry has the position {found:?}, which is no longitude and latitude in degrees (WGS 84): {advice}")
    })
}
