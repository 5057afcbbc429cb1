use std::sync::Arc;

use geo::Rect;
use serde::Serialize;

use super::{FeatureId, MapLayer};
use crate::model::{BoundingBox, Geometry, Infrastructure, InfrastructureKind, Tags, union_rect};

/// Floodgates, pumps and waterways on the map.
#[derive(Clone, Debug, Default)]
pub struct InfrastructureLayer(pub Vec<Arc<Infrastructure>>);

impl InfrastructureLayer {
    /// Returns the bounding box. Costs O(positions).
    pub(crate) fn bounds(&self) -> Option<Rect<f64>> {
        self.0.iter().filter_map(|piece| piece.geometry().bounds()).reduce(union_rect)
    }

    pub(crate) fn normalized(mut self) -> Self {
        self.0.retain(|piece| piece.kind.allows(&piece.shape));
        self
    }

    pub(super) fn within(mut self, bbox: &BoundingBox) -> Self {
        self.0.retain(|piece| bbox.touches(piece.geometry()));
        self
    }
}

/// The properties of a floodgate, a pump or a waterway in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct InfrastructureProperties<'a> {
    name: &'a str,
    r#type: InfrastructureKind,
    tags: &'a Tags,
}

impl MapLayer for InfrastructureLayer {
    type Properties<'a> = InfrastructureProperties<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn feature(&self, index: usize) -> (Geometry<'_>, InfrastructureProperties<'_>) {
        let piece = &self.0[index];
        let properties =
            InfrastructureProperties { name: &piece.name, r#type: piece.kind, tags: &piece.tags };
        (piece.geometry(), properties)
    }

    fn id(&self, index: usize) -> Option<FeatureId<'_>> {
        Some(FeatureId::Text(self.0[index].id.as_str().into()))
    }
}
