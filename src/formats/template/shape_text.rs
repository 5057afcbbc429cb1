use geo::{Coord, LineString, Polygon};
use minijinja::Error;

use super::shapes::{WktGeometry, no_geometry};
use crate::model::Geometry;
use crate::model::lists::separated;
use crate::model::numbers;

/// Returns well-known text (OGC 06-103r4 §7): `POINT (106.8 -6.2)`. Writes a ring as a `LINESTRING`.
pub(super) fn wkt(drawn: &WktGeometry<'_>) -> String {
    text(|out| match drawn {
        WktGeometry::Ring(line) => tagged("LINESTRING", line.0.is_empty(), out, |out| wkt_line(line, out)),
        WktGeometry::Geometry(Geometry::Point(coord)) => tagged("POINT", false, out, |out| {
            out.push(b'(');
            pair(coord.x, b' ', coord.y, out);
            out.push(b')');
        }),
        WktGeometry::Geometry(Geometry::LineString(line)) => {
            tagged("LINESTRING", line.0.is_empty(), out, |out| wkt_line(line, out));
        }
        WktGeometry::Geometry(Geometry::Polygon(polygon)) => {
            tagged("POLYGON", polygon.exterior().0.is_empty(), out, |out| wkt_polygon(polygon, out));
        }
        WktGeometry::Geometry(Geometry::MultiPolygon(polygons)) => {
            tagged("MULTIPOLYGON", polygons.0.is_empty(), out, |out| wkt_list(*polygons, out, wkt_polygon));
        }
    })
}

/// Returns the positions of a place, line or ring for KML: `lng,lat lng,lat`.
pub(super) fn kml(drawn: &WktGeometry<'_>) -> Result<String, Error> {
    sequence(drawn, |coord, out| pair(coord.x, b',', coord.y, out))
}

/// Returns the positions of a place, line or ring for GML and `GeoRSS`: `lat lng lat lng`.
pub(super) fn gml(drawn: &WktGeometry<'_>) -> Result<String, Error> {
    sequence(drawn, |coord, out| pair(coord.y, b' ', coord.x, out))
}

fn sequence(drawn: &WktGeometry<'_>, position: impl Fn(&Coord<f64>, &mut Vec<u8>)) -> Result<String, Error> {
    let line = |line: &LineString<f64>| {
        text(|out| {
            for (index, coord) in line.coords().enumerate() {
                if index > 0 {
                    out.push(b' ');
                }
                position(coord, out);
            }
        })
    };
    match drawn {
        WktGeometry::Ring(ring) => Ok(line(ring)),
        WktGeometry::Geometry(Geometry::LineString(coords)) => Ok(line(coords)),
        WktGeometry::Geometry(Geometry::Point(coord)) => Ok(text(|out| position(coord, out))),
        WktGeometry::Geometry(Geometry::Polygon(_) | Geometry::MultiPolygon(_)) => {
            Err(no_geometry("a place, a line or a ring: a surface has rings, see the filter polygons"))
        }
    }
}

fn tagged(tag: &str, empty: bool, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(tag.as_bytes());
    out.push(b' ');
    if empty { out.extend_from_slice(b"EMPTY") } else { body(out) }
}

fn wkt_list<T>(items: impl IntoIterator<Item = T>, out: &mut Vec<u8>, item: impl FnMut(T, &mut Vec<u8>)) {
    out.push(b'(');
    separated(items, out, item);
    out.push(b')');
}

fn wkt_line(line: &LineString<f64>, out: &mut Vec<u8>) {
    wkt_list(line.coords(), out, |coord, out| pair(coord.x, b' ', coord.y, out));
}

fn wkt_polygon(polygon: &Polygon<f64>, out: &mut Vec<u8>) {
    wkt_list(std::iter::once(polygon.exterior()).chain(polygon.interiors()), out, wkt_line);
}

fn pair(first: f64, between: u8, second: f64, out: &mut Vec<u8>) {
    numbers::plain_float(first, out);
    out.push(between);
    numbers::plain_float(second, out);
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap_or_default()
}
