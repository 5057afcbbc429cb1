use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::Arc;

use geo::InteriorPoint;
use geojson::JsonObject;

use super::feature::Feature;
use super::{Folder, FolderFile, FolderRow, FolderWriter, GeoJsonWriter, WriteError, geojson_file};
use crate::data::folder::DatasetError;
use crate::model::bodies::check_storable;
use crate::model::{
    Area, AreaId, Attributes, DuplicateArea, Locator, Position, Region, without_zero_fraction,
};

impl Folder {
    /// Reads the local areas. Fails on duplicate identifiers. An area without `city` gets the city of `cities.geojson` that
    /// contains a point inside the area. Notes areas outside all cities.
    pub fn areas<E: From<DatasetError>>(
        &self,
        each: impl FnMut(FolderRow<Area>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut ids: HashSet<AreaId> = HashSet::new();
        let cities = LazyCell::new(|| self.cities_to_locate());
        let make = |feature: &Feature<'_>| {
            let mut area = area(feature)?;
            if !ids.insert(area.id) {
                return Err(DuplicateArea(area.id).to_string());
            }
            if area.city_code.is_empty() {
                let place = area.outline.interior_point().map(|point| Position::new(point.x(), point.y()));
                match place.flatten().and_then(|place| cities.city_at(place)) {
                    Some(code) => code.clone_into(&mut area.city_code),
                    None => feature.note_without_city(),
                }
            }
            Ok(area)
        };
        geojson_file::read(self, FolderFile::Areas, make, each)
    }

    /// Reads the cities, to find the city of an area without `city`. Returns no cities if one has a fault.
    fn cities_to_locate(&self) -> Locator {
        let folder = Self { repair: self.repair, ..Self::new(self.path.clone(), self.built_in) };
        let mut cities: Vec<Arc<Region>> = Vec::new();
        let read = folder.cities(|row: FolderRow<Region>| {
            cities.push(Arc::new(row.value));
            Ok::<_, DatasetError>(())
        });
        if read.is_err() {
            cities.clear();
        }
        cities.sort_by(|a, b| a.code.cmp(&b.code));
        Locator::new(Arc::default(), Vec::new(), cities)
    }
}

fn area(feature: &Feature<'_>) -> Result<Area, String> {
    let id = feature.required("area_id")?;
    let id = without_zero_fraction(&id).parse().map_err(|error| format!("area_id {error}"))?;
    Ok(Area {
        id,
        geom_id: feature.text("geom_id")?,
        name: feature.text("area_name")?,
        parent_name: feature.text("parent_name")?,
        city_name: feature.text("city_name")?,
        city_code: feature.text("city")?,
        region_code: feature.text("instance_region_code")?,
        attributes: attributes(feature)?,
        outline: feature.outline()?,
    })
}

/// Properties that responses add to areas. A file made from a response has them; they are not attributes of the area.
const STATE: [&str; 5] = ["state", "last_updated", "flooded_since", "confirmed", "over_since"];

/// Returns the attributes: the members of the property `attributes`, and all unknown properties.
fn attributes(feature: &Feature<'_>) -> Result<Option<Attributes>, String> {
    const NAME: &str = "attributes";
    let is_known = |name: &str| PROPERTIES.contains(&name) || STATE.contains(&name);
    let nested = feature.members(NAME)?;
    let others = feature.properties().filter(|(name, value)| {
        let is_nested = *name == NAME && (value.get().starts_with('{') || value.get() == "null");
        !is_known(name) && !is_nested && nested.iter().all(|(nested, _)| nested != name)
    });
    let nested_members = nested.iter().map(|(name, value)| (name.as_str(), value.get()));
    let attributes =
        Attributes::from_members(nested_members.chain(others.map(|(name, value)| (name, value.get()))));
    let Some(attributes) = attributes else { return Ok(None) };
    let object: JsonObject =
        serde_json::from_str(attributes.as_json()).map_err(|error| format!("{NAME}: {error}"))?;
    check_storable(&object).map_err(|unkeepable| format!("{NAME} {unkeepable}"))?;
    attributes.check_district().map_err(|wrong| wrong.to_string())?;
    Ok(Some(attributes))
}

const PROPERTIES: [&str; 7] =
    ["area_id", "geom_id", "area_name", "parent_name", "city_name", "instance_region_code", "city"];

#[derive(serde::Serialize)]
struct Properties<'a> {
    area_id: AreaId,
    geom_id: &'a str,
    area_name: &'a str,
    parent_name: &'a str,
    city_name: &'a str,
    instance_region_code: &'a str,
    city: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a Attributes>,
}

impl FolderWriter {
    /// Starts writing `areas.geojson`.
    pub fn areas(&self) -> Result<GeoJsonWriter<Area>, WriteError> {
        self.features(FolderFile::Areas)
    }
}

impl GeoJsonWriter<Area> {
    /// Writes the next area.
    pub fn write(&mut self, area: &Area) -> Result<(), WriteError> {
        let properties = Properties {
            area_id: area.id,
            geom_id: &area.geom_id,
            area_name: &area.name,
            parent_name: &area.parent_name,
            city_name: &area.city_name,
            instance_region_code: &area.region_code,
            city: &area.city_code,
            attributes: area.attributes.as_ref(),
        };
        self.feature(&properties, area.geometry())
    }
}
