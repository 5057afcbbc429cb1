use std::sync::Arc;

use serde::Serialize;

use super::{Feature, Properties};
use crate::model::{Area, AreaId, AreaSet, FloodState, Standing, Timestamp};

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
    #[must_use]
    pub fn features(&self) -> impl ExactSizeIterator<Item = FloodFeature<'_>> {
        (0..self.len()).map(|index| self.feature(index))
    }

    pub(super) fn len(&self) -> usize {
        self.selected.len()
    }

    pub(super) fn feature(&self, index: usize) -> FloodFeature<'_> {
        let (position, standing) = self.selected[index];
        FloodFeature { area: &self.areas[position], standing }
    }
}

impl<'a> From<FloodFeature<'a>> for Feature<'a> {
    fn from(FloodFeature { area, standing }: FloodFeature<'a>) -> Self {
        let properties = FloodProperties {
            area_id: area.id,
            geom_id: &area.geom_id,
            area_name: &area.name,
            parent_name: &area.parent_name,
            city_name: &area.city_name,
            state: standing.map(|standing| standing.state),
            last_updated: standing.map(|standing| standing.since),
        };
        Self { geometry: area.geometry(), properties: Properties::Flood(properties) }
    }
}
