use std::collections::HashSet;

use super::feature::Feature;
use super::geometry::outline;
use super::{Folder, FolderFile, Row, geojson_file};
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
