use std::path::Path;

use super::geojson_file::{self, Row};
use super::geometry::shape;
use super::tags::tags;
use crate::datasets::DatasetError;
use crate::model::{Infrastructure, InfrastructureKind, Locator};

/// Reads floodgates, pumps and waterways; none when there is no such file.
pub(super) fn read(path: &Path, locator: &Locator) -> Result<Vec<Infrastructure>, DatasetError> {
    geojson_file::read(path, |row| infrastructure(row, locator))
}

fn infrastructure(row: &Row, locator: &Locator) -> Result<Infrastructure, String> {
    let name = row.required("type")?;
    let kind = InfrastructureKind::ALL.into_iter().find(|kind| kind.name() == name);
    let kind =
        kind.ok_or_else(|| format!("type must be one of [floodgates, pumps, waterways], not {name:?}"))?;
    Ok(Infrastructure {
        kind,
        name: row.text("name")?,
        tags: tags(row, |place| locator.locate(place))?,
        shape: shape(row.geometry()?)?,
    })
}
