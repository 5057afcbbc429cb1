use super::feature::Feature;
use super::geometry::shape;
use super::tags::tags;
use super::{Folder, FolderFile, Row, geojson_file};
use crate::datasets::DatasetError;
use crate::model::{Infrastructure, Locator};

/// Reads floodgates, pumps and waterways.
pub(super) fn read<E: From<DatasetError>>(
    folder: &Folder,
    locator: &Locator,
    each: impl FnMut(Row<Infrastructure>) -> Result<(), E>,
) -> Result<(), E> {
    geojson_file::read(folder, FolderFile::Infrastructure, |feature| infrastructure(feature, locator), each)
}

fn infrastructure(feature: &Feature<'_>, locator: &Locator) -> Result<Infrastructure, String> {
    let kind = feature.required("type")?;
    let shape = shape(feature.geometry()?)?;
    Ok(Infrastructure {
        kind: kind.parse().map_err(|error| format!("type {error}, not {kind:?}"))?,
        name: feature.text("name")?,
        tags: tags(feature, shape.beginning(), locator)?,
        shape,
    })
}
