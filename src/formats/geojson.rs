//! GeoJSON (RFC 7946).

use std::time::Duration;

use geo::{Coord, LineString, MultiPolygon, Polygon};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Container, EncodeContext, EncodeError, Format};
use crate::model::{Feature, Geometry, Layer, LayerKind};

/// Writes a layer as a `FeatureCollection`.
///
/// Coordinates are written with the fewest digits that read back as the same number. Costs O(positions).
#[derive(Clone, Copy, Debug)]
pub struct GeoJson;

impl Format for GeoJson {
    fn name(&self) -> &'static str {
        "geojson"
    }

    fn container(&self) -> Container {
        Container::JSON
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn carries(&self, kind: LayerKind) -> bool {
        match kind {
            LayerKind::Floods
            | LayerKind::Reports
            | LayerKind::Gauges
            | LayerKind::Infrastructure
            | LayerKind::Boundaries => true,
        }
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, _context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        serde_json::to_writer(out, &Collection(layer))
            .map_err(|source| EncodeError { format: self.name().to_owned(), source: source.into() })
    }
}

struct Collection<'a>(&'a Layer);

impl Serialize for Collection<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("type", "FeatureCollection")?;
        map.serialize_entry("features", &Features(self.0))?;
        map.end()
    }
}

struct Features<'a>(&'a Layer);

impl Serialize for Features<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.features().map(Member))
    }
}

struct Member<'a>(Feature<'a>);

impl Serialize for Member<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("type", "Feature")?;
        map.serialize_entry("geometry", &Shape(self.0.geometry))?;
        map.serialize_entry("properties", &self.0.properties)?;
        map.end()
    }
}

/// A geometry as GeoJSON has it (§3.1), outside a layer too.
#[derive(Debug)]
pub(crate) struct Shape<'a>(pub(crate) Geometry<'a>);

impl Serialize for Shape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("type", self.0.type_name())?;
        match self.0 {
            Geometry::Point(coord) => map.serialize_entry("coordinates", &position(&coord)),
            Geometry::LineString(line) => map.serialize_entry("coordinates", &Line(line)),
            Geometry::Polygon(polygon) => map.serialize_entry("coordinates", &Rings(polygon)),
            Geometry::MultiPolygon(polygons) => map.serialize_entry("coordinates", &Polygons(polygons)),
        }?;
        map.end()
    }
}

fn position(coord: &Coord<f64>) -> [f64; 2] {
    [coord.x, coord.y]
}

struct Line<'a>(&'a LineString<f64>);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.coords().map(position))
    }
}

struct Rings<'a>(&'a Polygon<f64>);

impl Serialize for Rings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rings = std::iter::once(self.0.exterior()).chain(self.0.interiors());
        serializer.collect_seq(rings.map(Line))
    }
}

struct Polygons<'a>(&'a MultiPolygon<f64>);

impl Serialize for Polygons<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Rings))
    }
}
