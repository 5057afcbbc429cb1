use std::collections::HashMap;
use std::path::Path;

use super::Fault;
use super::geojson_file::{self, Row};
use super::geometry::outline;
use crate::datasets::DatasetError;
use crate::model::{Area, AreaId, AreaSet};

/// Reads the local areas; the empty set when there is no such file.
pub(super) fn read(path: &Path) -> Result<AreaSet, DatasetError> {
    let mut lines: HashMap<AreaId, u64> = HashMap::new();
    let areas = geojson_file::read(path, |row| {
        let area = area(row)?;
        lines.insert(area.id, row.line);
        Ok(area)
    })?;
    AreaSet::new(areas).map_err(|duplicate| {
        let line = lines.get(&duplicate.0).copied().unwrap_or(1);
        Fault { line, reason: duplicate.to_string() }.in_file(path)
    })
}

fn area(row: &Row) -> Result<Area, String> {
    let id = row.required("area_id")?.parse().map_err(|error| format!("area_id {error}"))?;
    Ok(Area {
        id,
        geom_id: row.text("geom_id")?,
        name: row.text("area_name")?,
        parent_name: row.text("parent_name")?,
        city_name: row.text("city_name")?,
        city_code: row.text("city")?,
        region_code: row.text("instance_region_code")?,
        outline: outline(row.geometry()?)?,
    })
}
