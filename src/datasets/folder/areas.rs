use std::collections::HashSet;

use super::feature::Feature;
use super::geometry::outline;
use super::{Folder, FolderFile, GeoJsonWriter, Row, WriteError, geojson_file};
use crate::datasets::DatasetError;
use crate::model::{Area, AreaId, DuplicateArea};

/// Reads the local areas.
pub(super) fn read<E: From<DatasetError>>(
    folder: &Folder,
    each: impl FnMut(Row<Area>) -> Result<(), E>,
) -> Result<(), E> {
    let mut ids: HashSet<AreaId> = HashSet::new();
    let make = |feature: &Feature<'_>| {
        let area = area(feature)?;
        if ids.insert(area.id) { Ok(area) } else { Err(DuplicateArea(area.id).to_string()) }
    };
    geojson_file::read(folder, FolderFile::Areas, make, each)
}

fn area(feature: &Feature<'_>) -> Result<Area, String> {
    let id = feature.required("area_id")?.parse().map_err(|error| format!("area_id {error}"))?;
    Ok(Area {
        id,
        geom_id: feature.text("geom_id")?,
        name: feature.text("area_name")?,
        parent_name: feature.text("parent_name")?,
        city_name: feature.text("city_name")?,
        city_code: feature.text("city")?,
        region_code: feature.text("instance_region_code")?,
        outline: outline(feature.geometry()?)?,
    })
}

#[derive(serde::Serialize)]
struct Properties<'a> {
    area_id: AreaId,
    geom_id: &'a str,
    area_name: &'a str,
    parent_name: &'a str,
    city_name: &'a str,
    instance_region_code: &'a str,
    city: &'a str,
}

impl GeoJsonWriter<Area> {
    /// Writes the next area.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write(&mut self, area: &Area) -> Result<(), WriteError> {
        let properties = Properties {
            area_id: area.id,
            geom_id: &area.geom_id,
            area_name: &area.name,
            parent_name: &area.parent_name,
            city_name: &area.city_name,
            instance_region_code: &area.region_code,
            city: &area.city_code,
        };
        self.feature(&properties, area.geometry())
    }
}
