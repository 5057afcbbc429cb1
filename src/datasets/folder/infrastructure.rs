use std::path::Path;

use super::geojson_file::{self, Row};
use super::geometry::shape;
use super::tags::tags;
use crate::datasets::DatasetError;
use crate::model::{Infrastructure, Locator};

/// Reads floodgates, pumps and waterways; none when there is no such file.
pub(super) fn read(path: &Path, locator: &Locator) -> Result<Vec<Infrastructure>, DatasetError> {
    geojson_file::read(path, |row| infrastructure(row, locator))
}

fn infrastructure(row: &Row, locator: &Locator) -> Result<Infrastructure, String> {
    let kind = row.required("type")?;
    let shape = shape(row.geometry()?)?;
    Ok(Infrastructure {
        kind: kind.parse().map_err(|error| format!("type {error}, not {kind:?}"))?,
        name: row.text("name")?,
        tags: tags(row, shape.beginning(), locator)?,
        shape,
    })
}
