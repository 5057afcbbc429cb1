use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{FloodIdentity, MapLayer};
use crate::model::outline::label;
use crate::model::{Area, AreaSet, BoundingBox, City, Geometry, Outline};

/// Outlines of local areas, of larger areas or of cities, without states.
#[derive(Clone, Debug, Default)]
pub struct AreaLayer {
    areas: Arc<AreaSet>,
    outlines: Vec<AreaOutline>,
}

/// One outline of a layer.
#[derive(Clone, Debug)]
pub enum AreaOutline {
    /// That of the local area at this position of the set.
    Area(usize),
    /// That of several local areas.
    Union(Arc<Outline>),
    /// That of a city, with its identifier.
    City(Arc<City>),
}

/// The properties of an outline in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug)]
pub enum AreaProperties<'a> {
    /// Those of a local area.
    Area(&'a Area),
    /// Those of several local areas.
    Union(&'a Outline),
    /// Those of a city with its identifier.
    City(&'a City),
}

impl AreaLayer {
    /// Returns a layer of these outlines, in this order.
    ///
    /// # Panics
    ///
    /// Reading the layer panics if a position lies outside the set.
    #[must_use]
    pub fn new(areas: Arc<AreaSet>, outlines: Vec<AreaOutline>) -> Self {
        Self { areas, outlines }
    }

    /// Returns the outlines.
    #[must_use]
    pub fn outlines(&self) -> &[AreaOutline] {
        &self.outlines
    }

    /// Returns the same layer with only those outlines that touch a part of the map.
    pub(super) fn within(mut self, part: &BoundingBox) -> Self {
        self.outlines.retain(|outline| match outline {
            AreaOutline::Area(position) => self.areas.touches(*position, part),
            AreaOutline::Union(outline) => part.touches(Geometry::surface(&outline.surface)),
            AreaOutline::City(city) => part.touches(Geometry::surface(&city.surface)),
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
                let area = &self.areas[*position];
                (area.geometry(), AreaProperties::Area(area))
            }
            AreaOutline::Union(outline) => {
                (Geometry::surface(&outline.surface), AreaProperties::Union(outline))
            }
            AreaOutline::City(city) => (Geometry::surface(&city.surface), AreaProperties::City(city)),
        }
    }
}

impl Serialize for AreaProperties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let surface = match self {
            Self::Area(area) => &area.outline,
            Self::Union(outline) => &outline.surface,
            Self::City(city) => &city.surface,
        };
        let mut properties = serializer.serialize_struct("AreaProperties", FloodIdentity::FIELDS + 1)?;
        match self {
            Self::Area(area) => FloodIdentity::of(area).fields(&mut properties)?,
            Self::Union(outline) => {
                if let Some(parent) = &outline.parent_name {
                    properties.serialize_field("parent_name", parent)?;
                }
                properties.serialize_field("city_name", &outline.city_name)?;
                properties.serialize_field("areas", &outline.areas)?;
            }
            Self::City(City { id, name, province, .. }) => {
                properties.serialize_field("id", id)?;
                properties.serialize_field("region", province)?;
                properties.serialize_field("region_code", id)?;
                properties.serialize_field("city", name)?;
                properties.serialize_field("city_name", name)?;
            }
        }
        properties.serialize_field("label", &label(surface))?;
        properties.end()
    }
}
