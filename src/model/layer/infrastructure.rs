use std::sync::Arc;

use serde::Serialize;

use super::MapLayer;
use crate::model::{Geometry, Infrastructure, InfrastructureKind, Tags};

/// Floodgates, pumps and waterways on the map.
#[derive(Clone, Debug, Default)]
pub struct InfrastructureLayer(pub Vec<Arc<Infrastructure>>);

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
        let of = &self.0[index];
        (of.geometry(), InfrastructureProperties { name: &of.name, r#type: of.kind, tags: &of.tags })
    }
}
