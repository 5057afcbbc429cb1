use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{FeatureId, MapLayer};
use crate::model::{
    Area, AreaId, AreaSet, BoundingBox, CurrentState, FloodState, FloodStatus, Geometry, Timestamp,
    with_parameter,
};

/// The flood map: areas of one set, each with its state, if any.
#[derive(Clone, Debug, Default)]
pub struct FloodLayer {
    areas: Arc<AreaSet>,
    selected: Arc<Vec<(usize, FloodStatus)>>,
    path: Option<String>,
}

/// An area on the flood map.
#[derive(Clone, Copy, Debug)]
pub struct FloodFeature<'a> {
    /// The area.
    pub area: &'a Area,
    /// The state of the area, if any.
    pub current: Option<CurrentState>,
    /// When the last flood of the area ended, if the area is dry.
    pub over_since: Option<Timestamp>,
}

/// The properties of a local area in GeoJSON and TopoJSON: first the constant properties, then its state.
#[derive(Clone, Copy, Debug)]
pub struct FloodProperties<'a> {
    identity: FloodIdentity<'a>,
    condition: FloodCondition,
}

/// Serializes the properties of an area that do not depend on its flood state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloodIdentity<'a>(&'a Area);

/// Serializes the properties of an area that depend on its flood state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloodCondition(pub(crate) FloodStatus);

impl<'a> FloodIdentity<'a> {
    pub(super) const FIELDS: usize = 6;

    pub(crate) fn new(area: &'a Area) -> Self {
        Self(area)
    }

    pub(super) fn fields<S: SerializeStruct>(self, to: &mut S) -> Result<(), S::Error> {
        to.serialize_field("area_id", &self.0.id)?;
        to.serialize_field("geom_id", &self.0.geom_id)?;
        to.serialize_field("area_name", &self.0.name)?;
        to.serialize_field("parent_name", &self.0.parent_name)?;
        to.serialize_field("city_name", &self.0.city_name)?;
        // Absent attributes are skipped to save space: most data sets have none, and a map has thousands of areas.
        match &self.0.attributes {
            Some(attributes) => to.serialize_field("attributes", attributes),
            None => to.skip_field("attributes"),
        }
    }
}

impl FloodCondition {
    const FIELDS: usize = 5;

    fn fields<S: SerializeStruct>(self, to: &mut S) -> Result<(), S::Error> {
        let current = self.0.current();
        to.serialize_field("state", &current.map(|current| current.state))?;
        to.serialize_field("last_updated", &current.map(|current| current.last_updated))?;
        // Absent times are skipped to save space: a map has thousands of areas.
        let times = [
            ("flooded_since", current.and_then(|current| current.flooded_since)),
            ("confirmed", current.and_then(|current| current.confirmed)),
            ("over_since", self.0.over_since()),
        ];
        for (name, time) in times {
            match time {
                Some(time) => to.serialize_field(name, &time)?,
                None => to.skip_field(name)?,
            }
        }
        Ok(())
    }
}

impl Serialize for FloodProperties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = FloodIdentity::FIELDS + FloodCondition::FIELDS;
        let mut properties = serializer.serialize_struct("FloodProperties", fields)?;
        self.identity.fields(&mut properties)?;
        self.condition.fields(&mut properties)?;
        properties.end()
    }
}

impl Serialize for FloodIdentity<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut identity = serializer.serialize_struct("FloodIdentity", Self::FIELDS)?;
        self.fields(&mut identity)?;
        identity.end()
    }
}

impl Serialize for FloodCondition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut condition = serializer.serialize_struct("FloodCondition", Self::FIELDS)?;
        self.fields(&mut condition)?;
        condition.end()
    }
}

/// The state of an area without its geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FloodStateRecord {
    /// The area.
    pub area_id: AreaId,
    /// The state.
    pub state: FloodState,
    /// When the state was last set, confirmed or restored.
    pub last_updated: Timestamp,
    /// When the flood began.
    pub flooded_since: Option<Timestamp>,
    /// When the state was last set or confirmed.
    pub confirmed: Option<Timestamp>,
}

impl FloodLayer {
    /// Creates a layer of the areas at these positions of `areas`, in this order.
    /// Reading the layer panics if a position is out of range.
    #[must_use]
    pub fn new(areas: Arc<AreaSet>, selected: Vec<(usize, FloodStatus)>) -> Self {
        Self { areas, selected: Arc::new(selected), path: None }
    }

    /// Sets the path and query of the layer below the base address, without a leading slash.
    #[must_use]
    pub fn at(self, path: String) -> Self {
        Self { path: Some(path), ..self }
    }

    /// Returns the path and query of the layer below the base address, if the layer has its own address.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Returns the areas with their states.
    #[must_use]
    pub fn features(&self) -> impl ExactSizeIterator<Item = FloodFeature<'_>> {
        (0..self.selected.len()).map(|index| self.flood(index))
    }

    /// Returns the set that the areas belong to.
    #[must_use]
    pub fn areas(&self) -> &Arc<AreaSet> {
        &self.areas
    }

    #[must_use]
    pub(crate) fn selected(&self) -> &[(usize, FloodStatus)] {
        &self.selected
    }

    pub(crate) fn flooded(mut self) -> Self {
        Arc::make_mut(&mut self.selected).retain(|(_, status)| status.current().is_some());
        self
    }

    pub(super) fn within(mut self, bbox: &BoundingBox) -> Self {
        let areas = &self.areas;
        Arc::make_mut(&mut self.selected).retain(|(position, _)| areas.touches(*position, bbox));
        self.path = self.path.map(|path| with_parameter(&path, "bbox", &bbox.to_string()));
        self
    }

    fn flood(&self, index: usize) -> FloodFeature<'_> {
        let (position, status) = self.selected[index];
        FloodFeature {
            area: &self.areas[position],
            current: status.current(),
            over_since: status.over_since(),
        }
    }
}

impl MapLayer for FloodLayer {
    type Properties<'a> = FloodProperties<'a>;

    fn len(&self) -> usize {
        self.selected.len()
    }

    fn feature(&self, index: usize) -> (Geometry<'_>, FloodProperties<'_>) {
        let (position, status) = self.selected[index];
        let area = &self.areas[position];
        let properties = FloodProperties { identity: FloodIdentity(area), condition: FloodCondition(status) };
        (area.geometry(), properties)
    }

    fn id(&self, index: usize) -> Option<FeatureId<'_>> {
        Some(FeatureId::Number(self.areas[self.selected[index].0].id.number()))
    }
}
