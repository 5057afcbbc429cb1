use std::sync::Arc;

use serde::Serialize;

use super::{Feature, Properties};
use crate::model::{Infrastructure, InfrastructureKind, Tags};

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

impl<'a> From<&'a Infrastructure> for Feature<'a> {
    fn from(of: &'a Infrastructure) -> Self {
        let properties = InfrastructureProperties { name: &of.name, r#type: of.kind, tags: &of.tags };
        Self { geometry: of.geometry(), properties: Properties::Infrastructure(properties) }
    }
}
