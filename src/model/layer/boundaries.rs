use std::sync::Arc;

use serde::Serialize;

use super::{Feature, Properties};
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

impl<'a> From<&'a Region> for Feature<'a> {
    fn from(region: &'a Region) -> Self {
        let properties = BoundaryProperties { code: &region.code, name: &region.name };
        let geometry = Geometry::surface(&region.outline);
        Self { geometry, properties: Properties::Boundary(properties) }
    }
}
