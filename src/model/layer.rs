use std::sync::Arc;

use serde::Serialize;

use super::{Area, AreaId, AreaSet, FloodState, Geometry, Standing, Timestamp};

/// What kind of features a layer holds: one for each resource that has a place on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LayerKind {
    /// Local areas with their flood state.
    Floods,
}

/// The features of one answer, typed by resource, in the order the answer shows them.
///
/// A layer is what a store gives and a format encodes. Geometry is shared, not copied.
#[derive(Clone, Debug)]
pub enum Layer {
    /// Local areas with their flood state.
    Floods(FloodLayer),
}

impl Layer {
    /// What kind of layer this is.
    #[must_use]
    pub fn kind(&self) -> LayerKind {
        match self {
            Self::Floods(_) => LayerKind::Floods,
        }
    }

    /// The features as geometry with properties: all a generic map format needs to know.
    pub fn features(&self) -> impl Iterator<Item = Feature<'_>> + Clone {
        match self {
            Self::Floods(floods) => floods.features().map(|flood| Feature {
                geometry: flood.area.geometry(),
                properties: Properties::Flood(flood.properties()),
            }),
        }
    }
}

/// One feature of a layer, as a generic map format sees it.
#[derive(Clone, Copy, Debug)]
pub struct Feature<'a> {
    /// Its shape and place.
    pub geometry: Geometry<'a>,
    /// Its properties, serialized as the interface documents them.
    pub properties: Properties<'a>,
}

/// The properties of a feature, serialized with the names and in the order of the interface.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Properties<'a> {
    /// Of a local area.
    Flood(FloodProperties<'a>),
}

/// The flood map: areas of one set, each with the state it has, if any.
#[derive(Clone, Debug)]
pub struct FloodLayer {
    areas: Arc<AreaSet>,
    selected: Vec<(usize, Option<Standing>)>,
}

/// An area on the flood map.
#[derive(Clone, Copy, Debug)]
pub struct FloodFeature<'a> {
    /// The area.
    pub area: &'a Area,
    /// The state it has; `None` when it has none.
    pub standing: Option<Standing>,
}

/// The properties of a local area in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FloodProperties<'a> {
    area_id: AreaId,
    geom_id: &'a str,
    area_name: &'a str,
    parent_name: &'a str,
    city_name: &'a str,
    state: Option<FloodState>,
    last_updated: Option<Timestamp>,
}

/// The state of an area without its geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FloodStateRecord {
    /// The area.
    pub area_id: AreaId,
    /// Its state.
    pub state: FloodState,
    /// When the state was set.
    pub last_updated: Timestamp,
}

impl FloodLayer {
    /// A layer of the areas at the given positions of `areas`, in the given order.
    ///
    /// # Panics
    ///
    /// Reading the layer panics when a position lies outside the set.
    #[must_use]
    pub fn new(areas: Arc<AreaSet>, selected: Vec<(usize, Option<Standing>)>) -> Self {
        Self { areas, selected }
    }

    /// The areas of the layer with their states.
    pub fn features(&self) -> impl Iterator<Item = FloodFeature<'_>> + Clone {
        self.selected
            .iter()
            .map(|&(position, standing)| FloodFeature { area: &self.areas[position], standing })
    }
}

impl<'a> FloodFeature<'a> {
    fn properties(&self) -> FloodProperties<'a> {
        FloodProperties {
            area_id: self.area.id,
            geom_id: &self.area.geom_id,
            area_name: &self.area.name,
            parent_name: &self.area.parent_name,
            city_name: &self.area.city_name,
            state: self.standing.map(|standing| standing.state),
            last_updated: self.standing.map(|standing| standing.since),
        }
    }
}
