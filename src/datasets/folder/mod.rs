//! A data set in a folder of GeoJSON and CSV files.

mod areas;
mod flood_states;
mod geojson_file;
mod outline;
mod regions;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Dataset, DatasetError};
use crate::model::Timestamp;

/// Reads the folder at `path`; `now` is the latest time its history may have.
pub(super) fn read(path: &Path, now: Timestamp) -> Result<Dataset, DatasetError> {
    if !path.is_dir() {
        return Err(DatasetError::NoFolder(path.to_owned()));
    }
    let areas = areas::read(&path.join("areas.geojson"))?;
    let regions = regions::read(&path.join("regions.geojson"))?;
    let flood_log = flood_states::read(&path.join("flood_states.csv"), &areas, now)?;
    Ok(Dataset { areas, regions, flood_log })
}

/// The text of a file, without a byte order mark; empty when there is no such file.
fn text_of(path: &Path) -> Result<String, DatasetError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(source) => return Err(DatasetError::Unreadable { path: path.to_owned(), source }),
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Fault { line: line_at(valid), reason: "is not UTF-8".to_owned() }.in_file(path)
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// The number of the line that follows after `before`, from 1.
fn line_at(before: &[u8]) -> u64 {
    1 + before.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>()
}

/// What is wrong with a row, before the file is named.
struct Fault {
    line: u64,
    reason: String,
}

impl Fault {
    fn in_file(self, path: &Path) -> DatasetError {
        DatasetError::Row { path: PathBuf::from(path), line: self.line, reason: self.reason }
    }
}
