//! Converts GeoJSON geometry to the model's.

use geo::orient::{Direction, Orient};
use geo::{Coord, LineString, MultiPolygon, Polygon};
use geojson::{GeometryValue, Position};

use crate::model::{Course, InfrastructureShape, Position as Place};

const TOO_SHORT: &str = "geometry has a line of less than 2 positions";

/// Returns the polygons of a GeoJSON surface, wound as RFC 7946 §3.1.6 requires: outer rings counter-clockwise.
///
/// # Errors
///
/// The reason, if it is not a surface, or a ring is open, too short or off the globe.
pub fn outline(geometry: &GeometryValue) -> Result<MultiPolygon<f64>, String> {
    let polygons = match geometry {
        GeometryValue::Polygon { coordinates } => vec![polygon(coordinates)?],
        GeometryValue::MultiPolygon { coordinates } => {
            coordinates.iter().map(|rings| polygon(rings)).collect::<Result<_, _>>()?
        }
        other => {
            let kind = other.type_name();
            return Err(format!("geometry must be a Polygon or MultiPolygon, not a {kind}"));
        }
    };
    if polygons.is_empty() {
        return Err("geometry has no polygon".to_owned());
    }
    Ok(MultiPolygon(polygons).orient(Direction::Default))
}

fn polygon(rings: &[Vec<Position>]) -> Result<Polygon<f64>, String> {
    let mut rings = rings.iter().map(|positions| ring(positions));
    let exterior = rings.next().ok_or("geometry has a polygon without rings")??;
    Ok(Polygon::new(exterior, rings.collect::<Result<_, _>>()?))
}

fn ring(positions: &[Position]) -> Result<LineString<f64>, String> {
    let ring: Vec<Coord<f64>> = positions.iter().map(coord).collect::<Result<_, _>>()?;
    if ring.len() < 4 {
        return Err(format!("geometry has a ring of {} positions; at least 4 are needed", ring.len()));
    }
    let distinct = |coord: &&Coord<f64>| **coord != ring[0];
    let another = ring.iter().find(distinct);
    if ring.iter().filter(distinct).all(|coord| Some(coord) == another) {
        return Err("geometry has a ring of less than 3 different positions".to_owned());
    }
    if ring.first() != ring.last() {
        return Err("geometry has a ring whose last position is not its first".to_owned());
    }
    Ok(LineString(ring))
}

/// Returns the place of a GeoJSON point.
///
/// # Errors
///
/// The reason, if it is not a point, or off the globe.
pub fn place(geometry: &GeometryValue) -> Result<Place, String> {
    match geometry {
        GeometryValue::Point { coordinates } => position(coordinates),
        other => Err(format!("geometry must be a Point, not a {}", other.type_name())),
    }
}

/// Returns the place of a GeoJSON point or the course of a line.
///
/// # Errors
///
/// The reason, if it is neither, or too short, or off the globe.
pub fn shape(geometry: &GeometryValue) -> Result<InfrastructureShape, String> {
    match geometry {
        GeometryValue::Point { coordinates } => position(coordinates).map(InfrastructureShape::Place),
        GeometryValue::LineString { coordinates } => {
            let positions: Vec<_> = coordinates.iter().map(position).collect::<Result<_, _>>()?;
            let course = Course::new(&positions).ok_or(TOO_SHORT)?;
            Ok(InfrastructureShape::Course(course))
        }
        other => {
            let kind = other.type_name();
            Err(format!("geometry must be a Point or LineString, not a {kind}"))
        }
    }
}

/// Returns a line of the base map.
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
