use geo::orient::{Direction, Orient};
use geo::{Coord, LineString, MultiPolygon, Polygon};
use geojson::{GeometryValue, Position};

/// The polygons of a GeoJSON surface, wound as RFC 7946 §3.1.6 asks: outer rings counter-clockwise.
///
/// # Errors
///
/// The reason, when it is no surface, or a ring is open, too short or off the globe.
pub(super) fn outline(geometry: &GeometryValue) -> Result<MultiPolygon<f64>, String> {
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
    if ring.first() != ring.last() {
        return Err("geometry has a ring whose last position is not its first".to_owned());
    }
    Ok(LineString(ring))
}

fn coord(position: &Position) -> Result<Coord<f64>, String> {
    match position.as_slice() {
        &[x, y, ..] if x.abs() <= 180.0 && y.abs() <= 90.0 => Ok(Coord { x, y }),
        other => Err(format!("geometry has the position {other:?}, which is no longitude and latitude")),
    }
}
