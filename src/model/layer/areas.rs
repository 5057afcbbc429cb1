use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{FeatureId, FloodIdentity, MapLayer};
use crate::model::{Area, AreaId, AreaSet, BoundingBox, City, Geometry, Outline, label};

/// Outlines of local areas, larger areas or cities, without states.
#[derive(Clone, Debug, Default)]
pub struct AreaLayer {
    areas: Arc<AreaSet>,
    outlines: Arc<Vec<AreaOutline>>,
}

/// An outline of a layer.
#[derive(Clone, Debug)]
pub enum AreaOutline {
    /// The local area at this position of the set.
    Area(usize),
    /// The union of several local areas.
    Union(Arc<Outline>),
    /// A city with its identifier.
    City(Arc<City>),
}

/// The properties of an outline in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug)]
pub enum AreaProperties<'a> {
    /// The local area at this position of a set.
    Area(&'a AreaSet, usize),
    /// The union of several local areas.
    Union(&'a Outline),
    /// A city with its identifier.
    City(&'a City),
}

impl AreaLayer {
    /// Creates a layer of these outlines, in this order.
    /// Reading the layer panics if a position is out of range.
    #[must_use]
    pub fn new(areas: Arc<AreaSet>, outlines: Vec<AreaOutline>) -> Self {
        Self { areas, outlines: Arc::new(outlines) }
    }

    pub(crate) fn areas(&self) -> &Arc<AreaSet> {
        &self.areas
    }

    /// Returns the positions in the set; `None` if an outline is a union or a city.
    pub(crate) fn positions(&self) -> Option<Vec<usize>> {
        let position = |outline: &AreaOutline| match outline {
            AreaOutline::Area(position) => Some(*position),
            AreaOutline::Union(_) | AreaOutline::City(_) => None,
        };
        self.outlines.iter().map(position).collect()
    }

    pub(crate) fn local_area(&self, index: usize) -> Option<&Area> {
        match self.outlines.get(index)? {
            AreaOutline::Area(position) => Some(&self.areas[*position]),
            AreaOutline::Union(_) | AreaOutline::City(_) => None,
        }
    }

    /// Returns the outlines.
    #[must_use]
    pub fn outlines(&self) -> &[AreaOutline] {
        &self.outlines
    }

    pub(crate) fn is_dissolved(&self) -> bool {
        self.outlines.iter().all(|outline| matches!(outline, AreaOutline::Union(_)))
    }

    /// Removes local areas whose identifiers are not in `ids`. Keeps all outlines of larger areas and cities.
    pub(crate) fn retain_ids(mut self, ids: &BTreeSet<AreaId>) -> Self {
        Arc::make_mut(&mut self.outlines).retain(|outline| match outline {
            AreaOutline::Area(position) => ids.contains(&self.areas[*position].id),
            AreaOutline::Union(_) | AreaOutline::City(_) => true,
        });
        self
    }

    pub(super) fn within(mut self, bbox: &BoundingBox) -> Self {
        Arc::make_mut(&mut self.outlines).retain(|outline| match outline {
            AreaOutline::Area(position) => self.areas.touches(*position, bbox),
            AreaOutline::Union(outline) => bbox.touches(Geometry::surface(&outline.surface)),
            AreaOutline::City(city) => bbox.touches(Geometry::surface(&city.surface)),
        });
        self
    }
}

impl MapLayer for AreaLayer {
    type Properties<'a> = AreaProperties<'a>;

    fn len(&self) -> usize {
        self.outlines.len()
    }

    fn feature(&self, index: usize) -> (Geometry<'_>, AreaProperties<'_>) {
        match &self.outlines[index] {
            AreaOutline::Area(position) => {
                (self.areas[*position].geometry(), AreaProperties::Area(&self.areas, *position))
            }
            AreaOutline::Union(outline) => {
                (Geometry::surface(&outline.surface), AreaProperties::Union(outline))
            }
            AreaOutline::City(city) => (Geometry::surface(&city.surface), AreaProperties::City(city)),
        }
    }

    fn id(&self, index: usize) -> Option<FeatureId<'_>> {
        self.local_area(index).map(|area| FeatureId::Number(area.id.number()))
    }
}

impl Serialize for AreaProperties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut properties = serializer.serialize_struct("AreaProperties", FloodIdentity::FIELDS + 1)?;
        let label = match self {
            Self::Area(set, position) => {
                FloodIdentity::new(&set[*position]).fields(&mut properties)?;
                set.label(*position)
            }
            Self::Union(outline) => {
                if let Some(parent) = &outline.parent_name {
                    properties.serialize_field("parent_name", parent)?;
                }
                properties.serialize_field("city_name", &outline.city_name)?;
                properties.serialize_field("areas", &outline.areas)?;
                outline.label
            }
            Self::City(City { id, name, province, surface, .. }) => {
                properties.serialize_field("id", id)?;
                properties.serialize_field("region", province)?;
                properties.serialize_field("region_code", id)?;
                properties.serialize_field("city", name)?;
                properties.serialize_field("city_name", name)?;
                label(surface)
            }
        };
        properties.serialize_field("label", &label)?;
        properties.end()
    }
}
