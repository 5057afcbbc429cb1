//! Shared helpers.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use geo::orient::{Direction, Orient};
use siaga::folder::{Dataset, DatasetError, Folder, FolderFile, FolderRow, FolderRules};
use siaga::model::{Area, AreaSet, Infrastructure, Places};
use tempfile::TempDir;

pub(crate) use crate::created::{collection, folder_of, written};
use crate::fixture;

pub(crate) fn load(path: &Path) -> Result<Dataset, String> {
    let loaded = Dataset::load(path.to_str().unwrap(), &FolderRules::default(), fixture::now());
    loaded.map_err(|error| error.to_string().replace(&format!("{}/", path.display()), ""))
}

/// Loads a folder of these files.
pub(crate) fn loaded(files: &[(FolderFile, impl AsRef<[u8]>)]) -> Result<Dataset, String> {
    load(folder_of(files).path())
}

/// Reads the areas of a folder; an error names its files without the path.
pub(crate) fn areas_of(folder: &Folder) -> Result<Vec<FolderRow<Area>>, String> {
    let mut areas = Vec::new();
    let read = folder.areas(|row| {
        areas.push(row);
        Ok::<_, DatasetError>(())
    });
    read.map(|()| areas).map_err(|error| error.to_string())
}

/// The data set with the ring orientation of RFC 7946, as after reading.
pub(crate) fn normalised(dataset: Dataset) -> Dataset {
    let places = &dataset.places;
    let areas = places.areas().iter().map(|area| {
        let outline = area.outline.orient(Direction::Default);
        Area { outline, ..area.clone() }
    });
    let areas = Arc::new(AreaSet::new(areas.collect()).unwrap());
    let infrastructure = places.infrastructure().iter().map(|piece| Infrastructure::clone(piece)).collect();
    let places = Places::new(areas, places.regions().to_vec(), places.cities().to_vec());
    Dataset { places: places.with_infrastructure(infrastructure), ..dataset }
}

pub(crate) const SQUARE: &str = r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}"#;
pub(crate) const POINT: &str = r#"{"type":"Point","coordinates":[0.5,0.5]}"#;

/// A feature of these properties, on one line.
pub(crate) fn feature(properties: &str, geometry: impl Display) -> String {
    format!(r#"{{"type":"Feature","properties":{{{properties}}},"geometry":{geometry}}}"#)
}

/// An area on one line.
pub(crate) fn area(id: &str) -> String {
    feature(&format!(r#""area_id":"{id}""#), SQUARE)
}

/// Opens a folder and counts the bytes read.
pub(crate) fn counting_reads(folder: &TempDir) -> (Folder, Arc<AtomicU64>) {
    let read = Arc::new(AtomicU64::new(0));
    let progress = Arc::clone(&read);
    let opened = Folder::open(folder.path()).unwrap();
    let opened = opened.with_progress(move |bytes| {
        progress.fetch_add(bytes, Ordering::SeqCst);
    });
    (opened, read)
}

/// A sink that accepts all rows.
pub(crate) fn accept_all<T>() -> impl FnMut(FolderRow<T>) -> Result<(), DatasetError> {
    |_| Ok(())
}
