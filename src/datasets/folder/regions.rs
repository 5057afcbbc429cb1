use std::collections::HashSet;

use super::feature::Feature;
use super::geometry::outline;
use super::{Folder, FolderFile, Row, geojson_file};
use crate::datasets::DatasetError;
use crate::model::Region;

/// Reads the provinces.
pub(super) fn read<E: From<DatasetError>>(
    folder: &Folder,
    each: impl FnMut(Row<Region>) -> Result<(), E>,
) -> Result<(), E> {
    let mut codes = HashSet::new();
    let make = |feature: &Feature<'_>| {
        let code = feature.required("code")?;
        if !codes.insert(code.clone()) {
            return Err(format!("code {code} occurs already"));
        }
        Ok(Region { code, name: feature.required("name")?, outline: outline(feature.geometry()?)? })
    };
    geojson_file::read(folder, FolderFile::Regions, make, each)
}
