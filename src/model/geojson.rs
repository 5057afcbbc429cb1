//! Geometry as GeoJSON (RFC 7946).

use geo::{Coord, LineString, Polygon};

use super::lists::array;
use super::{Geometry, numbers};

/// Appends a geometry object (§3.1).
pub(crate) fn geometry(geometry: Geometry<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"type":""#);
    out.extend_from_slice(geometry.type_name().as_bytes());
    out.extend_from_slice(br#"","coordinates":"#);
    match geometry {
        Geometry::Point(coord) => position(&coord, out),
        Geometry::LineString(line) => positions(line, out),
        Geometry::Polygon(polygon) => rings(polygon, out),
        Geometry::MultiPolygon(polygons) => array(polygons, out, rings),
    }
    out.push(b'}');
}

fn position(coord: &Coord<f64>, out: &mut Vec<u8>) {
    numbers::position(coord.x, coord.y, out);
}

fn positions(line: &LineString<f64>, out: &mut Vec<u8>) {
    array(&line.0, out, position);
}

fn rings(polygon: &Polygon<f64>, out: &mut Vec<u8>) {
    array(std::iter::once(polygon.exterior()).chain(polygon.interiors()), out, positions);
}
