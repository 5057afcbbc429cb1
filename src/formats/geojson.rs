//! GeoJSON (RFC 7946).

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use geo::{Coord, LineString, Polygon};
use serde_json::{Value, json};

use super::flood_text::FloodText;
use super::lists::array;
use super::memo::Memo;
use super::{Container, EncodeContext, EncodeError, Format, numbers};
use crate::model::{AreaSet, FloodLayer, Geometry, Layer, LayerKind};
use crate::resources::{describe, properties};
use crate::schema;

/// Writes a layer as a `FeatureCollection`.
///
/// Coordinates are written with the fewest digits that parse to the same number. Costs O(positions).
///
/// The text of areas is built once for each set of areas, and cached as long as the set exists. After that, writing
/// floods costs little more than copying their text.
#[derive(Clone, Debug, Default)]
pub struct GeoJson {
    floods: Arc<Memo<FloodText>>,
}

impl GeoJson {
    fn write(
        &self,
        layer: &Layer,
        context: &EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        out.extend_from_slice(br#"{"type":"FeatureCollection","features":["#);
        match layer {
            Layer::Floods(floods) => self.write_floods(floods, out)?,
            layer => write_features(layer, context, out)?,
        }
        out.extend_from_slice(b"]}");
        Ok(())
    }

    fn write_floods(&self, floods: &FloodLayer, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let (areas, selected) = (floods.areas(), floods.selected());
        let text = self.floods.of(areas, || prepared(areas))?;
        let all =
            selected.len() == text.len() && selected.iter().map(|(position, _)| *position).eq(0..text.len());
        if all {
            // The text of a state is about 30 bytes longer than that of none.
            out.reserve(text.size() + 32 * selected.len() + 2);
            return text.append_all(selected.iter().map(|(_, standing)| *standing), out);
        }
        for (index, (position, standing)) in selected.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            text.append(*position, *standing, out)?;
        }
        Ok(())
    }
}

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

    fn also_accepted(&self) -> &[&str] {
        &[BARE]
    }

    fn bare(&self) -> Option<Arc<dyn Format>> {
        Some(Arc::new(Bare(self.clone())))
    }

    fn carries(&self, _: LayerKind) -> bool {
        true
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn schema(&self, kind: LayerKind) -> Value {
        feature_collection(kind)
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.write(layer, context, out).map_err(|source| EncodeError::new(self.name(), source))
    }
}

/// Returns the schema of layers of a kind.
fn feature_collection(kind: LayerKind) -> Value {
    let position = || schema::array(json!({ "type": "number" }));
    let geometry = |name: &str| {
        let coordinates = if name == "Point" { position() } else { schema::lines(name, position()) };
        schema::object(json!({ "type": { "const": name }, "coordinates": coordinates }))
    };
    schema::object(json!({
        "type": { "const": "FeatureCollection" },
        "features": schema::array(schema::object(json!({
            "type": { "const": "Feature" },
            "geometry": schema::one_of(describe(kind).geometries().iter().copied().map(geometry)),
            "properties": properties(kind),
        }))),
    }))
}

/// The media type of a collection by itself (RFC 7946 §12).
const BARE: &str = "application/geo+json";

/// The same collections without the envelope.
#[derive(Debug)]
struct Bare(GeoJson);

impl Format for Bare {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn container(&self) -> Container {
        Container("geojson")
    }

    fn media_type(&self) -> &'static str {
        BARE
    }

    fn carries(&self, kind: LayerKind) -> bool {
        self.0.carries(kind)
    }

    fn time_step(&self) -> Option<Duration> {
        self.0.time_step()
    }

    fn schema(&self, kind: LayerKind) -> Value {
        self.0.schema(kind)
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.0.encode(layer, context, out)
    }
}

/// Builds the text of all areas of a set.
fn prepared(areas: &AreaSet) -> serde_json::Result<FloodText> {
    let mut text = FloodText::new()?;
    for area in areas {
        text.push(area, |text| before_properties(area.geometry(), text), after_properties)?;
    }
    Ok(text)
}

/// Writes the features of a layer, without prepared text.
fn write_features(
    layer: &Layer,
    context: &EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    for (index, feature) in layer.features().enumerate() {
        context.check()?;
        if index > 0 {
            out.push(b',');
        }
        before_properties(feature.geometry, out);
        serde_json::to_writer(&mut *out, &feature.properties)?;
        after_properties(out);
    }
    Ok(())
}

fn before_properties(shape: Geometry<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"type":"Feature","geometry":"#);
    geometry(shape, out);
    out.extend_from_slice(br#","properties":"#);
}

fn after_properties(out: &mut Vec<u8>) {
    out.push(b'}');
}

/// Appends a geometry as GeoJSON (§3.1), also outside a layer.
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
