//! A data set in a folder of GeoJSON and CSV files.

mod areas;
mod csv_file;
mod flood_states;
mod gauges;
mod geojson_file;
mod geometry;
mod infrastructure;
mod lines;
mod regions;
mod reports;
mod tags;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::lines::Lines;
use super::{Dataset, DatasetError};
use crate::model::{Locator, Timestamp};

/// Reads the folder at `path`; `now` is the latest time its history may have.
pub(super) fn read(path: &Path, now: Timestamp) -> Result<Dataset, DatasetError> {
    if !path.is_dir() {
        return Err(DatasetError::NoFolder(path.to_owned()));
    }
    let file = |name| path.join(name);
    let areas = Arc::new(areas::read(&file("areas.geojson"))?);
    let regions: Vec<_> = regions::read(&file("regions.geojson"))?.into_iter().map(Arc::new).collect();
    let locator = Locator::new(Arc::clone(&areas), regions.clone());
    Ok(Dataset {
        flood_log: flood_states::read(&file("flood_states.csv"), &areas, now)?,
        infrastructure: infrastructure::read(&file("infrastructure.geojson"), &locator)?,
        gauges: gauges::read(&file("gauges.geojson"), &file("gauge_readings.csv"), &locator)?,
        reports: reports::read(&file("reports.geojson"), &locator)?,
        cards: Vec::new(),
        partner_posts: Vec::new(),
        areas,
        regions,
    })
}

/// The text of a file, without a byte order mark; `None` when there is no such file.
fn text_of(path: &Path) -> Result<Option<String>, DatasetError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(DatasetError::Unreadable { path: path.to_owned(), source }),
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = Lines::of(error.as_bytes()).at(error.utf8_error().valid_up_to());
        Fault { line, reason: "is not UTF-8".to_owned() }.in_file(path)
    })?;
    Ok(Some(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }))
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
