//! What the tests share.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use geo::orient::{Direction, Orient};
use siaga::folder::{
    Dataset, DatasetError, Folder, FolderFile, FolderRow, FolderRules, FolderWriter, ReportRow, WriteError,
};
use siaga::model::{
    Area, AreaSet, Card, ErasedReport, FloodChange, Gauge, Infrastructure, Locator, ModerationEntry,
    Observation, PartnerPost, Places, Region, Report,
};
use tempfile::TempDir;

use crate::fixture;

/// A folder of these files.
pub(crate) fn folder_of(files: &[(FolderFile, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, content) in files {
        fs::write(folder.path().join(file.name()), content).unwrap();
    }
    folder
}

pub(crate) fn load(path: &Path) -> Result<Dataset, String> {
    let loaded = Dataset::load(path.to_str().unwrap(), &FolderRules::default(), fixture::now());
    loaded.map_err(|error| error.to_string().replace(&format!("{}/", path.display()), ""))
}

/// Writes a data set into a new folder.
pub(crate) fn written(dataset: &Dataset) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(dataset, folder.path()).unwrap();
    folder
}

pub(crate) fn write(dataset: &Dataset, path: &Path) -> Result<(), WriteError> {
    dataset.save(&FolderWriter::create(path)?)
}

/// Why a folder could not be copied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    #[error(transparent)]
    Read(#[from] DatasetError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes the rows of a folder into another one as they are read, without holding any.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), CopyError> {
    let (from, to) = (Folder::open(from)?, FolderWriter::create(to)?);
    let mut out = to.areas()?;
    from.areas(|row: FolderRow<Area>| out.write(&row.value).map_err(CopyError::from))?;
    out.finish()?;
    let mut out = to.regions()?;
    from.regions(|row: FolderRow<Region>| out.write(&row.value).map_err(CopyError::from))?;
    out.finish()?;
    let mut out = to.cities()?;
    from.cities(|row: FolderRow<Region>| out.write(&row.value).map_err(CopyError::from))?;
    out.finish()?;
    let mut areas = Vec::new();
    from.areas(|row: FolderRow<Area>| {
        areas.push(row.value);
        Ok::<_, CopyError>(())
    })?;
    let areas = Arc::new(AreaSet::new(areas).unwrap());
    let locator = Locator::new(Arc::clone(&areas), Vec::new(), Vec::new());
    let mut out = to.infrastructure()?;
    from.infrastructure(&locator, |row: FolderRow<Infrastructure>| {
        out.write(&row.value).map_err(CopyError::from)
    })?;
    out.finish()?;
    let mut out = to.gauges()?;
    from.gauges(&locator, |row: FolderRow<Gauge>| out.write(&row.value).map_err(CopyError::from))?;
    out.finish()?;
    let mut out = to.gauge_readings()?;
    from.gauge_readings(&|_| true, |row: FolderRow<(String, Observation)>| {
        out.write(&row.value.0, &row.value.1).map_err(CopyError::from)
    })?;
    out.finish()?;
    let mut out = to.flood_states()?;
    let end = fixture::now().after(std::time::Duration::from_hours(24 * 365 * 100));
    from.flood_states(&areas, end, |row: FolderRow<FloodChange>| {
        out.write(&row.value).map_err(CopyError::from)
    })?;
    out.finish()?;
    let report = |row: ReportRow| Report { key: row.key.unwrap(), content: row.content, tags: row.tags };
    let mut out = to.reports()?;
    from.reports(&locator, |row| out.write(&report(row.value)).map_err(CopyError::from))?;
    out.finish()?;
    let mut out = to.hidden_reports()?;
    from.hidden_reports(&locator, |row| out.write(&report(row.value)).map_err(CopyError::from))?;
    out.finish()?;
    let mut out = to.erased_reports()?;
    from.erased_reports(|row: FolderRow<ErasedReport>| out.write(&row.value).map_err(CopyError::from))?;
    out.finish()?;
    let mut out = to.moderation_log()?;
    from.moderation_log(|row: FolderRow<ModerationEntry>| out.write(&row.value).map_err(CopyError::from))?;
    out.finish()?;
    let mut out = to.cards()?;
    from.cards(|row: FolderRow<Card>| out.write(&row.value).map_err(CopyError::from))?;
    out.finish()?;
    let mut out = to.partner_posts()?;
    from.partner_posts(|row: FolderRow<PartnerPost>| out.write(&row.value).map_err(CopyError::from))?;
    out.finish()?;
    Ok(())
}

/// The data set with every ring wound as RFC 7946 asks, as all that is read is.
pub(crate) fn wound(dataset: Dataset) -> Dataset {
    let places = &dataset.places;
    let areas = places.areas().iter().map(|area| {
        let outline = area.outline.orient(Direction::Default);
        Area { outline, ..area.clone() }
    });
    let areas = Arc::new(AreaSet::new(areas.collect()).unwrap());
    let infrastructure = places.infrastructure().iter().map(|of| Infrastructure::clone(of)).collect();
    let places = Places::new(areas, places.regions().to_vec(), places.cities().to_vec());
    Dataset { places: places.with_infrastructure(infrastructure), ..dataset }
}

/// An area on one line.
pub(crate) fn area(id: &str) -> String {
    format!(
        r#"{{"type":"Feature","properties":{{"area_id":"{id}"}},"geometry":{{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}}}"#
    )
}

/// A folder with one file, written by `rows`, and how many bytes of it were read.
pub(crate) fn watched(
    file: FolderFile,
    rows: impl FnOnce(&mut BufWriter<File>),
) -> (TempDir, Folder, Arc<AtomicU64>) {
    let folder = tempfile::tempdir().unwrap();
    let mut out = BufWriter::new(File::create(folder.path().join(file.name())).unwrap());
    rows(&mut out);
    out.flush().unwrap();
    let read = Arc::new(AtomicU64::new(0));
    let progress = Arc::clone(&read);
    let opened = Folder::open(folder.path()).unwrap();
    let opened = opened.watched(move |bytes| {
        progress.fetch_add(bytes, Ordering::SeqCst);
    });
    (folder, opened, read)
}

/// A sink that takes all rows.
pub(crate) fn taken<T>() -> impl FnMut(FolderRow<T>) -> Result<(), DatasetError> {
    |_| Ok(())
}

/// How far a reader may be ahead of the row it hands out.
pub(crate) const AHEAD: u64 = 256 * 1024;
