//! TopoJSON: geometry whose shared borders are stored once.
//!
//! Follows the [TopoJSON specification](https://github.com/topojson/topojson-specification) and, where that leaves a choice, the
//! reference implementation topojson-server. [`model::topology`](crate::model::topology) finds the shared borders, `document`
//! writes them with delta-encoded arcs, and `areas` pre-renders them once per set of areas.

mod areas;
mod document;
mod options;
mod schema;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use self::areas::Scopes;
pub use self::options::{InvalidQuantization, Options, Quantization};
use super::area_text::TrailingProperties;
use super::memo::Memo;
use super::{Container, EncodeContext, EncodeError, Format};
use crate::model::topology::{Fineness, Topology};
use crate::model::{AreaSet, Layer, LayerKind};

/// Writes a layer as a `Topology` with one object, `output`.
///
/// Outer rings run clockwise and holes counter-clockwise, as in d3 and the reference implementation. Decoded positions are exact,
/// or at most half a grid step from the original; [`Quantization`] bounds the step. Boundaries of larger areas and cities are
/// exact on any grid, so they stay valid. Every ring has at least four positions. An empty layer has the `bbox` of all loaded
/// areas, and an identity `transform`. Costs O(positions) time and memory.
///
/// A layer of floods or local areas uses the grid and arcs of its city if it lies in one city, otherwise the grid and arcs of the
/// whole set. Only used arcs are written, and `bbox` covers only the selection. Topology and text are built once per set of areas
/// and cached with it; later documents mostly copy them. Until they are built, a small selection of a large set gets its own
/// topology on the same grid, so that it does not wait.
#[derive(Clone, Debug, Default)]
pub struct TopoJson {
    options: Options,
    areas: Arc<Memo<Scopes>>,
}

impl TopoJson {
    /// The name of the format.
    pub const NAME: &'static str = "topojson";

    /// Creates the format.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, areas: Arc::default() }
    }

    fn write(
        &self,
        layer: &Layer,
        context: &EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        match layer {
            _ if layer.is_empty() => {
                document::write_empty(self.options.quantization != Quantization::NONE, context, out);
                Ok(())
            }
            Layer::Floods(floods) => {
                let selected = floods.selected().iter();
                let selected =
                    selected.map(|(position, status)| (*position, TrailingProperties::state(*status)));
                self.write_areas(floods.areas(), selected, out)
            }
            Layer::Areas(areas) => match areas.positions() {
                Some(positions) => {
                    let set = areas.areas();
                    let label = |position: &usize| TrailingProperties::Label { label: set.label(*position) };
                    self.write_areas(set, positions.iter().map(|at| (*at, label(at))), out)
                }
                None => self.write_whole(layer, context, out),
            },
            layer => self.write_whole(layer, context, out),
        }
    }

    fn write_areas(
        &self,
        set: &Arc<AreaSet>,
        selected: impl ExactSizeIterator<Item = (usize, TrailingProperties)> + Clone,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let scopes = self.areas.get_or_build(set, || Ok::<_, serde_json::Error>(Scopes::new(set)))?;
        Ok(scopes.write(set, selected, self.options.quantization, out)?)
    }

    fn write_whole(
        &self,
        layer: &Layer,
        context: &EncodeContext,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let geometries: Vec<_> = layer.features().map(|feature| feature.geometry).collect();
        let fineness = match (self.options.quantization.fineness(&geometries), layer) {
            (Fineness::Even { .. }, Layer::Areas(areas)) if areas.is_dissolved() => Fineness::Steps,
            (fineness, _) => fineness,
        };
        let topology = Topology::new(&geometries, fineness);
        document::write(&topology, layer.features().map(|feature| feature.properties), context, out)
    }
}

impl Format for TopoJson {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn container(&self) -> Container {
        Container::JSON
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn also_accepted(&self) -> &[&str] {
        &["application/topo+json"]
    }

    fn supports(&self, _: LayerKind) -> bool {
        true
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn schema(&self, kind: LayerKind) -> Value {
        schema::topology(kind, self.options.quantization != Quantization::NONE)
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.write(layer, context, out).map_err(|source| EncodeError::new(self.name(), source))
    }
}
