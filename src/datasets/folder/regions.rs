use std::collections::HashSet;
use std::path::Path;

use super::geojson_file;
use super::geometry::outline;
use crate::datasets::DatasetError;
use crate::model::Region;

/// Reads the provinces, by code; none when there is no such file.
pub(super) fn read(path: &Path) -> Result<Vec<Region>, DatasetError> {
    let mut codes = HashSet::new();
    let mut regions = geojson_file::read(path, |row| {
        let code = row.required("code")?;
        if !codes.insert(code.clone()) {
            return Err(format!("code {code} occurs already"));
        }
        Ok(Region { code, name: row.required("name")?, outline: outline(row.geometry()?)? })
    })?;
    regions.sort_by(|a, b| a.code.cmp(&b.code));
    Ok(regions)
}
