use std::sync::Arc;

use serde::Serialize;

use super::MapLayer;
use crate::model::{Geometry, Region};

/// Provinces on the map.
#[derive(Clone, Debug, Default)]
pub struct BoundaryLayer(pub Vec<Arc<Region>>);

/// The properties of a province in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BoundaryProperties<'a> {
    code: &'a str,
    name: &'a str,
}

impl MapLayer for BoundaryLayer {
    type Properties<'a> = BoundaryProperties<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn feature(&self, index: usize) -> (Geometry<'_>, BoundaryProperties<'_>) {
        let region = &self.0[index];
        let properties = BoundaryProperties { code: &region.code, name: &region.name };
        (Geometry::surface(&region.outline), properties)
    }
}
