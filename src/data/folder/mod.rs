//! A data set in a folder of GeoJSON and CSV files, read and written row by row.
//!
//! | file | properties or columns |
//! |---|---|
//! | `areas.geojson` | `area_id`, `geom_id`, `area_name`, `parent_name`, `city_name`, `instance_region_code`, `city` |
//! | `regions.geojson` | `code`, `name` |
//! | `cities.geojson` | `code`, `name` |
//! | `infrastructure.geojson` | `type`, `name`, `tags` |
//! | `basemap.geojson` | `kind`, `name` |
//! | `gauges.geojson` | `gaugeid`, `gaugenameid`, `instance_region_code` |
//! | `gauge_readings.csv` | `gaugeid,observed_at,level,alert,label` |
//! | `flood_states.csv` | `area_id,state,changed_at,username,subject` |
//! | `reports.geojson` | the properties of reports in the HTTP API |
//! | `cards.csv` | `card_id,pkey,username,network,language,network_data,report` |
//! | `partner_posts.csv` | `post_id,pkey` |
//!
//! Files are UTF-8, with or without a byte order mark, and lines end in LF or CRLF. Only a chunk and a row of a file are in
//! memory at a time, plus the identifiers that must be unique.
//!
//! [`Folder`] reads files of [`FolderWriter`] as the same values, to the last bit of a coordinate. The writer writes properties
//! in the order above, and missing values as null, so that the reader does not derive them from the place.

#![allow(
    clippy::missing_errors_doc,
    reason = "`Folder` and `FolderWriter` document the errors of all readers and writers"
)]

mod areas;
mod basemap;
mod cards;
mod csv_file;
mod dataset;
mod diagnostics;
mod erased_reports;
mod error;
mod feature;
mod file;
mod flood_states;
mod gauge_readings;
mod gauges;
mod geojson_file;
mod geometry;
mod infrastructure;
mod lines;
mod moderation_log;
mod notes;
mod partner_posts;
mod regions;
mod reports;
mod rules;
mod source;
mod tags;
mod unique;
mod validity;
mod writing;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub use self::dataset::Dataset;
pub(crate) use self::dataset::dataset;
use self::diagnostics::Diagnostics;
pub use self::error::DatasetError;
pub use self::file::FolderFile;
pub use self::geometry::{outline, place, shapes};
pub(crate) use self::moderation_log::{read_moderation_log, write_moderation_log};
use self::notes::{FileNotes, FutureRows};
pub use self::reports::ReportRow;
pub use self::rules::FolderRules;
use self::source::{NotUtf8, Source};
pub use self::validity::repair_outline;
pub use self::writing::{CsvWriter, FolderWriter, GeoJsonWriter, WriteError};
use crate::model::Timestamp;

/// A folder of GeoJSON and CSV files. Each file is optional; other files are ignored.
///
/// Each file has a method that calls `each` for every row in order, and does nothing if there is no file. It stops at the first
/// wrong row, with a [`DatasetError`] that has the file, the line and the reason, and at the first error of `each`. It has then
/// called `each` for all earlier rows.
///
/// ```no_run
/// use siaga::folder::{DatasetError, Folder};
///
/// let folder = Folder::open("path/to/folder")?;
/// let mut count = 0;
/// folder.areas(|area| {
///     println!("line {}: {}", area.line, area.value.name);
///     count += 1;
///     Ok::<_, DatasetError>(())
/// })?;
/// # Ok::<_, DatasetError>(())
/// ```
pub struct Folder {
    path: PathBuf,
    /// Compiled-in files, instead of those at the path.
    built_in: Option<&'static [(FolderFile, &'static str)]>,
    rules: FolderRules,
    progress: Box<dyn Fn(u64) + Send + Sync>,
    repair: bool,
    /// The current time: notes count rows with later dates.
    now: Option<Timestamp>,
    notes: Mutex<BTreeMap<FolderFile, FileNotes>>,
    diagnostics: Option<Diagnostics>,
    /// The path of the base map, if it is not in the folder.
    basemap: Option<PathBuf>,
}

/// A row of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderRow<T> {
    /// The line on which the row begins, from 1.
    pub line: u64,
    /// The content.
    pub value: T,
}

impl Folder {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    ///
    /// [`DatasetError::NoFolder`] if it is not a folder, [`DatasetError::NothingFound`] if it contains no file of a data set.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, DatasetError> {
        let path = path.into();
        if !path.is_dir() {
            return Err(DatasetError::NoFolder(path));
        }
        let folder = Self::new(path, None);
        if FolderFile::ALL.into_iter().any(|file| folder.has(file)) {
            return Ok(folder);
        }
        let found = folder.unknown_files();
        Err(DatasetError::NothingFound { path: folder.path, found })
    }

    /// Returns a folder of compiled-in files. Messages show `name` as its path.
    pub(crate) fn built_in(name: &str, files: &'static [(FolderFile, &'static str)]) -> Self {
        Self::new(name.into(), Some(files))
    }

    fn new(path: PathBuf, built_in: Option<&'static [(FolderFile, &'static str)]>) -> Self {
        let (rules, progress) = (FolderRules::default(), Box::new(|_| ()));
        let (repair, now, notes, diagnostics, basemap) = (false, None, Mutex::default(), None, None);
        Self { path, built_in, rules, progress, repair, now, notes, diagnostics, basemap }
    }

    /// Returns a folder with only this base map.
    pub(crate) fn from_basemap(file: PathBuf) -> Self {
        Self { basemap: Some(file), ..Self::new(PathBuf::new(), None) }
    }

    /// Returns whether a file exists.
    #[must_use]
    pub fn has(&self, file: FolderFile) -> bool {
        self.built_in.map_or_else(|| self.path_of(file).is_file(), |files| content(files, file).is_some())
    }

    #[must_use]
    pub(crate) fn unknown_files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let names = names.filter(|name| !name.starts_with('.'));
        let known = FolderFile::ALL.into_iter().chain([FolderFile::Basemap]);
        let mut names: Vec<_> = names.filter(|name| known.clone().all(|file| file.name() != name)).collect();
        names.sort_unstable();
        names
    }

    /// Sets the rules for the cards and reports of the folder.
    #[must_use]
    pub fn with_rules(self, rules: FolderRules) -> Self {
        Self { rules, ..self }
    }

    /// Calls `progress` after each read, with the number of bytes that were read.
    #[must_use]
    pub fn with_progress(self, progress: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self { progress: Box::new(progress), ..self }
    }

    /// Repairs invalid geometry: rings that cross or touch themselves or each other along a line, holes outside their polygon,
    /// overlapping polygons, open rings and collapsed ones. Without this call, a row with invalid geometry is an error.
    #[must_use]
    pub fn with_repair(self) -> Self {
        Self { repair: true, ..self }
    }

    /// Sets the current time, so that [`notes`](Self::notes) counts reports and readings with later dates.
    #[must_use]
    pub fn with_now(self, now: Timestamp) -> Self {
        Self { now: Some(now), ..self }
    }

    /// Returns a message for each ignored column or property, and for each file with repaired geometry, future dates, areas
    /// without a city or unusual shapes. Covers only files that were read completely.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.iter().flat_map(|(file, notes)| notes.lines(*file)).collect()
    }

    /// Returns the size of all files in bytes: the total for [`with_progress`](Self::with_progress) if each file is read once.
    #[must_use]
    pub fn size(&self) -> u64 {
        let size_on_disk = |file| fs::metadata(self.path_of(file)).map_or(0, |metadata| metadata.len());
        let file_size = |file| match self.built_in {
            Some(files) => content(files, file).map_or(0, |content| content.len() as u64),
            None => size_on_disk(file),
        };
        FolderFile::ALL.into_iter().map(file_size).sum()
    }

    /// Returns an error for a wrong row, if only the receiver of the rows can detect the fault.
    #[must_use]
    pub fn fault(&self, file: FolderFile, line: u64, reason: impl Into<String>) -> DatasetError {
        DatasetError::Row { path: self.path_of(file), line, reason: reason.into() }
    }

    fn note(&self, file: FolderFile, notes: FileNotes) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).insert(file, notes);
    }

    fn note_future(&self, file: FolderFile, rows: FutureRows) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).entry(file).or_default().future = rows;
    }

    fn unreadable(&self, file: FolderFile, error: io::Error) -> DatasetError {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<NotUtf8>()) {
            Some(wrong) => self.fault(file, wrong.line, wrong.to_string()),
            None => DatasetError::Unreadable { path: self.path_of(file), source: error },
        }
    }

    /// Opens a file; `None` if it does not exist.
    fn source(&self, file: FolderFile) -> Result<Option<Source<'_>>, DatasetError> {
        if let Some(files) = self.built_in {
            return Ok(content(files, file).map(|content| Source::new(content.as_bytes(), &*self.progress)));
        }
        match File::open(self.path_of(file)) {
            Ok(opened) => Ok(Some(Source::new(opened, &*self.progress))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unreadable(file, error)),
        }
    }

    fn path_of(&self, file: FolderFile) -> PathBuf {
        let elsewhere = self.basemap.as_ref().filter(|_| file == FolderFile::Basemap);
        elsewhere.cloned().unwrap_or_else(|| self.path.join(file.name()))
    }
}

fn content(files: &[(FolderFile, &'static str)], file: FolderFile) -> Option<&'static str> {
    files.iter().find(|(name, _)| *name == file).map(|(_, content)| *content)
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder").field("path", &self.path).finish_non_exhaustive()
    }
}
