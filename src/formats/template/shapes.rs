use std::sync::Arc;

use geo::{Coord, InteriorPoint, LineString, MultiPolygon, Polygon};
use minijinja::value::{Enumerator, Object, ObjectRepr, Value};
use minijinja::{Error, ErrorKind};

use crate::model::{Geometry, Layer, geojson};

#[derive(Debug)]
pub(super) struct Shape {
    layer: Arc<Layer>,
    feature: usize,
}

/// A ring of a polygon: a sequence of positions, the last equal to the first.
#[derive(Debug)]
pub(super) struct Ring {
    layer: Arc<Layer>,
    feature: usize,
    polygon: usize,
    /// The number of the ring in the polygon; 0 is the outer ring.
    number: usize,
}

/// A position of a geometry as a value in templates.
#[derive(Debug)]
pub(super) struct Point(Coord<f64>);

pub(super) enum WktGeometry<'a> {
    Geometry(Geometry<'a>),
    Ring(&'a LineString<f64>),
}

impl Shape {
    pub(super) fn new(layer: Arc<Layer>, feature: usize) -> Self {
        Self { layer, feature }
    }

    pub(super) fn geometry(&self) -> Geometry<'_> {
        self.layer.feature(self.feature).geometry
    }

    /// Returns the polygons, each with its `outer` ring and its `inner` rings; an empty list for a point or a line.
    pub(super) fn polygons(&self) -> Vec<Value> {
        let ring = |polygon, number| {
            let layer = Arc::clone(&self.layer);
            Value::from_object(Ring { layer, feature: self.feature, polygon, number })
        };
        let polygons = pieces(self.geometry()).iter().enumerate().map(|(at, polygon)| {
            let inner: Vec<Value> = (1..=polygon.interiors().len()).map(|hole| ring(at, hole)).collect();
            Value::from_pairs([("outer", ring(at, 0)), ("inner", Value::from(inner))])
        });
        polygons.collect()
    }

    /// Returns a position within the surface or on the line; `None` if the geometry has no such position.
    pub(super) fn place(&self) -> Option<Point> {
        let point = match self.geometry() {
            Geometry::Point(coord) => return Some(Point(coord)),
            Geometry::LineString(line) => line.interior_point(),
            Geometry::Polygon(polygon) => polygon.interior_point(),
            Geometry::MultiPolygon(polygons) => polygons.interior_point(),
        };
        point.map(|point| Point(point.0))
    }

    fn coordinates(&self) -> Value {
        match self.geometry() {
            Geometry::Point(coord) => position(&coord),
            Geometry::LineString(line) => positions(line),
            Geometry::Polygon(polygon) => rings(polygon),
            Geometry::MultiPolygon(MultiPolygon(polygons)) => polygons.iter().map(rings).collect(),
        }
    }

    pub(super) fn json(&self) -> String {
        let mut json = Vec::new();
        geojson::geometry(self.geometry(), &mut json);
        String::from_utf8(json).unwrap_or_default()
    }
}

impl Ring {
    fn line(&self) -> Option<&LineString<f64>> {
        let polygon = pieces(self.layer.feature(self.feature).geometry).get(self.polygon)?;
        match self.number.checked_sub(1) {
            None => Some(polygon.exterior()),
            Some(hole) => polygon.interiors().get(hole),
        }
    }
}

impl<'a> WktGeometry<'a> {
    pub(super) fn from_value(value: &'a Value) -> Result<Self, Error> {
        if let Some(shape) = value.downcast_object_ref::<Shape>() {
            return Ok(Self::Geometry(shape.geometry()));
        }
        if let Some(place) = value.downcast_object_ref::<Point>() {
            return Ok(Self::Geometry(Geometry::Point(place.0)));
        }
        let ring = value.downcast_object_ref::<Ring>().and_then(Ring::line).map(Self::Ring);
        ring.ok_or_else(|| no_geometry("a geometry, a ring or a place"))
    }
}

pub(super) fn no_geometry(expected: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("must be given {expected}"))
}

impl Object for Shape {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "type" => Some(Value::from(self.geometry().type_name())),
            "coordinates" => Some(self.coordinates()),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&["type", "coordinates"])
    }
}

impl Object for Ring {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let coord = self.line()?.0.get(key.as_usize()?)?;
        Some(Value::from_object(Point(*coord)))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.line().map_or(0, |line| line.0.len()))
    }
}

impl Object for Point {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "lng" => Some(Value::from(self.0.x)),
            "lat" => Some(Value::from(self.0.y)),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&["lng", "lat"])
    }
}

/// Returns the polygons of a geometry; an empty slice for a point or a line.
fn pieces(geometry: Geometry<'_>) -> &[Polygon<f64>] {
    match geometry {
        Geometry::Point(_) | Geometry::LineString(_) => &[],
        Geometry::Polygon(polygon) => std::slice::from_ref(polygon),
        Geometry::MultiPolygon(MultiPolygon(polygons)) => polygons,
    }
}

fn position(coord: &Coord<f64>) -> Value {
    Value::from([coord.x, coord.y])
}

fn positions(line: &LineString<f64>) -> Value {
    line.coords().map(position).collect()
}

fn rings(polygon: &Polygon<f64>) -> Value {
    std::iter::once(polygon.exterior()).chain(polygon.interiors()).map(positions).collect()
}
