//! GeoJSON (RFC 7946).

use std::convert::Infallible;
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

use super::area_text::{TrailingProperties, append_identity};
use super::memo::Memo;
use super::{Container, EncodeContext, EncodeError, Format};
use crate::model::{Area, AreaSet, FeatureId, Geometry, Layer, LayerKind, geojson};
use crate::schema;
use crate::schema::resources::{describe, properties};

/// Writes a layer as a `FeatureCollection`.
///
/// Coordinates have the fewest digits that parse to the same number. Features have their `id` in the OGC collections, if any.
/// Costs O(positions).
///
/// Builds the text of each local area on first use, and caches it with the set of areas. Later documents copy this text.
#[derive(Clone, Debug, Default)]
pub struct GeoJson {
    areas: Arc<Memo<Vec<Text>>>,
}

/// The text of an area up to its last properties, built on first use.
type Text = OnceLock<Box<[u8]>>;

impl GeoJson {
    fn write(
        &self,
        layer: &Layer,
        context: &EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        out.extend_from_slice(br#"{"type":"FeatureCollection","features":["#);
        match layer {
            Layer::Floods(floods) => {
                let features = floods.selected().iter();
                let features =
                    features.map(|(position, status)| (*position, TrailingProperties::state(*status)));
                self.write_areas(floods.areas(), features, context, out)?;
            }
            Layer::Areas(areas) => match areas.positions() {
                Some(positions) => {
                    let set = areas.areas();
                    let label = |position| TrailingProperties::Label { label: set.label(position) };
                    let features = positions.into_iter().map(|position| (position, label(position)));
                    self.write_areas(set, features, context, out)?;
                }
                None => write_features(layer, context, out)?,
            },
            layer => write_features(layer, context, out)?,
        }
        out.extend_from_slice(b"]}");
        Ok(())
    }

    fn write_areas(
        &self,
        set: &Arc<AreaSet>,
        features: impl Iterator<Item = (usize, TrailingProperties)>,
        context: &EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let none = || Ok::<_, Infallible>(set.iter().map(|_| OnceLock::new()).collect());
        let texts = self.areas.get_or_build(set, none)?;
        for (index, (position, last)) in features.enumerate() {
            context.check()?;
            if index > 0 {
                out.push(b',');
            }
            let text = if let Some(text) = texts[position].get() {
                text
            } else {
                let text = build_text(&set[position])?;
                texts[position].get_or_init(|| text)
            };
            out.extend_from_slice(text);
            last.append(out)?;
            after_properties(out);
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

    fn without_envelope(&self) -> Option<Arc<dyn Format>> {
        Some(Arc::new(Bare(self.clone())))
    }

    fn supports(&self, _: LayerKind) -> bool {
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

fn feature_collection(kind: LayerKind) -> Value {
    let position = || schema::array(json!({ "type": "number" }));
    let geometry = |name: &str| {
        let coordinates = if name == "Point" { position() } else { schema::lines(name, position()) };
        schema::object(json!({ "type": { "const": name }, "coordinates": coordinates }))
    };
    let mut feature = json!({
        "type": { "const": "Feature" },
        "geometry": schema::one_of(describe(kind).geometries.iter().copied().map(geometry)),
        "properties": properties(kind),
    });
    if let Some(id) = id_type(kind) {
        feature["id?"] = json!({ "type": id });
    }
    let features = schema::array(schema::object(feature));
    schema::object(json!({ "type": { "const": "FeatureCollection" }, "features": features }))
}

fn id_type(kind: LayerKind) -> Option<&'static str> {
    match kind {
        LayerKind::Floods | LayerKind::Areas | LayerKind::Reports => Some("integer"),
        LayerKind::Gauges | LayerKind::Infrastructure | LayerKind::Alerts => Some("string"),
        LayerKind::Boundaries => None,
    }
}

/// The media type of GeoJSON without the envelope (RFC 7946 §12).
const BARE: &str = "application/geo+json";

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

    fn supports(&self, kind: LayerKind) -> bool {
        self.0.supports(kind)
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

fn build_text(area: &Area) -> serde_json::Result<Box<[u8]>> {
    let mut text = Vec::new();
    before_properties(Some(FeatureId::Number(area.id.number())), area.geometry(), &mut text)?;
    append_identity(area, &mut text)?;
    Ok(text.into())
}

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
        before_properties(layer.id(index), feature.geometry, out)?;
        serde_json::to_writer(&mut *out, &feature.properties)?;
        after_properties(out);
    }
    Ok(())
}

/// Writes the beginning of a feature, up to the key `properties`.
fn before_properties(
    id: Option<FeatureId<'_>>,
    shape: Geometry<'_>,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    out.extend_from_slice(br#"{"type":"Feature","#);
    if let Some(id) = id {
        out.extend_from_slice(br#""id":"#);
        serde_json::to_writer(&mut *out, &id)?;
        out.push(b',');
    }
    out.extend_from_slice(br#""geometry":"#);
    geojson::geometry(shape, out);
    out.extend_from_slice(br#","properties":"#);
    Ok(())
}

fn after_properties(out: &mut Vec<u8>) {
    out.push(b'}');
}
