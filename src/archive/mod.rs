//! The public archive: files for researchers, one folder for each month, without personal data.
//!
//! What is in the folder of a month follows from the store. Nothing else is stored about it: the description in the folder has the
//! number of the newest entry of the moderation log when it was written, and a later entry about a report of that month withdraws
//! the folder.

mod files;
mod keeper;
mod month;
mod package;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

pub(crate) use self::keeper::Keeper;
pub(crate) use self::month::Month;
pub(crate) use self::package::{Package, Resource};

use self::files::{AreaFile, MonthFiles};
use self::package::PACKAGE;
use crate::collections::Tables;
use crate::config::Config;
use crate::model::{AreaSelector, Clock, Layer, Period, ReportKey, StateChange, Timestamp};
use crate::stores::{
    EntryQuery, GaugeQuery, HistoryQuery, ModerationQuery, ReportQuery, Store, StoreError, Window,
};
use crate::tasks::off_thread;

const DAY: Duration = Duration::from_hours(24);
/// How many entries of the moderation log are read to see which months they withdraw. If there are more, all months are withdrawn.
const MOST_ENTRIES: u32 = 1_000;

/// Writes the archive, and knows what of it may be read.
#[derive(Clone, Debug)]
pub(crate) struct Archive {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    tables: Arc<Tables>,
    config: Arc<Config>,
}

/// Why the archive cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    /// The store does not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file or folder cannot be written or read.
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: io::Error },
    /// The work failed by a panic, which was logged.
    #[error("the archive could not be written: an internal error")]
    Panicked,
}

impl ArchiveError {
    fn of(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl Archive {
    pub(crate) fn new(store: &Arc<dyn Store>, clock: &Arc<dyn Clock>, config: &Config) -> Self {
        let tables = Arc::new(Tables::new(config.country.data(), ""));
        Self { store: Arc::clone(store), clock: Arc::clone(clock), tables, config: Arc::new(config.clone()) }
    }

    /// Writes everything up to now into a folder without an archive: the areas, and each month with data.
    ///
    /// # Errors
    ///
    /// If the folder has an archive already, or cannot be written, or if the store fails.
    pub(crate) async fn write_all(&self, folder: &Path) -> Result<Vec<Month>, ArchiveError> {
        if folder.join(PACKAGE).exists() {
            let source = io::Error::new(io::ErrorKind::AlreadyExists, "the folder has an archive already");
            return Err(ArchiveError::File { path: folder.to_owned(), source });
        }
        self.write_areas(folder).await?;
        let last = Month::of(self.clock.now());
        let months: Vec<_> = self.first().await?.map_or_else(Vec::new, |first| first.until(last).collect());
        for month in &months {
            self.write(*month, folder).await?;
        }
        Ok(months)
    }

    /// Returns the month of the first flood state or report; `None` if there are none.
    async fn first(&self) -> Result<Option<Month>, ArchiveError> {
        let all = EntryQuery {
            selector: AreaSelector::default(),
            area: None,
            from: Timestamp::EPOCH,
            until: self.clock.now(),
        };
        let log = self.store.flood_entries(&all).await?.value;
        let state = log.iter().filter_map(|(_, entries)| entries.first()).map(|entry| entry.at).min();
        let report = self.store.reports_from(Some(ReportKey::FIRST), 1).await?;
        let report = report.first().map(|report| report.content.created_at);
        Ok(state.into_iter().chain(report).min().map(Month::of))
    }

    /// Writes the file with the areas.
    async fn write_areas(&self, folder: &Path) -> Result<(), ArchiveError> {
        let areas = Arc::clone(self.store.places().await?.value.areas());
        let (archive, folder, now) = (self.clone(), folder.to_owned(), self.clock.now());
        let writing = off_thread(move |_| {
            fs::create_dir_all(&folder).map_err(ArchiveError::of(&folder))?;
            let resource =
                AreaFile::write(&folder, &areas, &archive.tables).map_err(ArchiveError::of(&folder))?;
            let package = Package::new(&archive.config, now, None, vec![resource]);
            package.write(&folder).map_err(ArchiveError::of(&folder))
        });
        writing.await.map_err(|_| ArchiveError::Panicked)?
    }

    /// Writes the folder of a month. It takes the place of an older one when it is complete.
    async fn write(&self, month: Month, folder: &Path) -> Result<(), ArchiveError> {
        let now = self.clock.now();
        let (begin, end) = (month.begin(), month.end().min(now));
        // The log is read first: a report that is hidden from now on has a later entry.
        let newest = ModerationQuery { after: 0, before: None, most: 1 };
        let moderated =
            self.store.moderation_log(newest).await?.value.first().map_or(0, |entry| entry.number);
        let part = folder.join(format!(".{month}.part"));
        let (tables, settings, at) = (Arc::clone(&self.tables), self.config.archive.clone(), part.clone());
        let mut files = in_thread(&part, move || MonthFiles::create(&at, tables, &settings)).await?;
        let changes = self.changes(begin, end).await?;
        files = in_thread(&part, move || files.with_changes(&changes)).await?;
        let mut day = begin;
        while day <= end {
            let last = day.after(DAY).before(Duration::from_millis(1)).min(end);
            let window = Window::Within(period(day, last)?);
            let selector = AreaSelector::default();
            let reports = ReportQuery { selector: selector.clone(), disaster: None, training: false, window };
            let mut reports = self.store.reports(&reports).await?.value;
            reports.reports.sort_by_key(|report| (report.content.created_at, report.key));
            let gauges = self.store.gauges(&GaugeQuery { selector, window }).await?.value;
            files = in_thread(&part, move || files.with_day(&Layer::Reports(reports), &gauges)).await?;
            day = day.after(DAY);
        }
        let (config, folder) = (Arc::clone(&self.config), folder.to_owned());
        in_thread(&part.clone(), move || {
            let (resources, oldest) = files.finish()?;
            let mut package = Package::new(&config, now, Some(month), resources);
            package.moderated = moderated;
            package.oldest_report = oldest.map(|oldest| oldest.to_string());
            package.write(&part)?;
            // A folder cannot replace another one in one step. Between the two steps the month is not there.
            let (place, old) = (folder.join(month.to_string()), folder.join(format!(".{month}.old")));
            if place.exists() {
                fs::rename(&place, &old)?;
            }
            fs::rename(&part, &place)?;
            if old.exists() { fs::remove_dir_all(old) } else { Ok(()) }
        })
        .await
    }

    /// Returns the states in effect at the beginning of a period, with the times at which they were set, and all changes in it.
    async fn changes(
        &self,
        begin: Timestamp,
        end: Timestamp,
    ) -> Result<Vec<(u64, StateChange)>, ArchiveError> {
        let at_begin = HistoryQuery { selector: AreaSelector::default(), period: period(begin, begin)? };
        let standing = self.store.flood_archive(&at_begin).await?.value;
        let within = EntryQuery { selector: AreaSelector::default(), area: None, from: begin, until: end };
        let log = self.store.flood_entries(&within).await?.value;
        let standing = standing.into_iter().filter(|record| record.last_updated < begin).map(|record| {
            (record.area_id.number(), StateChange { state: Some(record.max_state), at: record.last_updated })
        });
        let changed = log.into_iter().flat_map(|(area, entries)| {
            entries.into_iter().map(move |entry| (area.number(), entry.change()))
        });
        let mut all: Vec<_> = standing.chain(changed).collect();
        all.sort_by_key(|(area, change)| (change.at, *area));
        Ok(all)
    }

    /// Returns the months in the archive that may be read, oldest first.
    ///
    /// # Errors
    ///
    /// If the store fails, or the folder cannot be read.
    pub(crate) async fn months(&self) -> Result<Vec<(Month, Package)>, ArchiveError> {
        let Some(folder) = self.config.archive.folder.clone() else { return Ok(Vec::new()) };
        let written = in_thread(&folder.clone(), move || packages(&folder)).await?;
        let Some(read) = written.iter().map(|(_, package)| package.moderated).min() else {
            return Ok(written);
        };
        let later = ModerationQuery { after: read, before: None, most: MOST_ENTRIES };
        let log = self.store.moderation_log(later).await?.value;
        if log.len() == MOST_ENTRIES as usize {
            return Ok(Vec::new());
        }
        let keep = self.config.reports.keep;
        let erased = Some(self.clock.now().before(keep).to_string()).filter(|_| !keep.is_zero());
        let mut months = written;
        months.retain(|(month, package)| {
            let is_moderated = log
                .iter()
                .any(|entry| entry.number > package.moderated && Month::of(entry.made_at) == *month);
            let has_erased = package
                .oldest_report
                .as_ref()
                .zip(erased.as_ref())
                .is_some_and(|(oldest, erased)| oldest < erased);
            !is_moderated && !has_erased
        });
        Ok(months)
    }

    /// Returns the description of the areas; `None` if they are not written yet.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub(crate) async fn areas(&self) -> Result<Option<Package>, ArchiveError> {
        let Some(folder) = self.config.archive.folder.clone() else { return Ok(None) };
        in_thread(&folder.clone(), move || Ok(Package::read(&folder).ok())).await
    }

    /// Returns the place of a file that may be read, in the folder of a month or beside the months; `None` if there is none.
    ///
    /// # Errors
    ///
    /// As [`months`](Self::months).
    pub(crate) async fn file(
        &self,
        month: Option<Month>,
        name: &str,
    ) -> Result<Option<(PathBuf, Resource)>, ArchiveError> {
        let Some(folder) = &self.config.archive.folder else { return Ok(None) };
        let (folder, package) = match month {
            None => (folder.clone(), self.areas().await?),
            Some(month) => {
                let mut months = self.months().await?.into_iter();
                (
                    folder.join(month.to_string()),
                    months.find(|(of, _)| *of == month).map(|(_, package)| package),
                )
            }
        };
        let found = package.and_then(|package| package.resource(&folder, name));
        Ok(found.map(|resource| (folder.join(&resource.path), resource)))
    }
}

/// Returns the months in a folder with their descriptions, oldest first.
fn packages(folder: &Path) -> io::Result<Vec<(Month, Package)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let Some(month) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        // One that cannot be read is written again.
        if let Ok(package) = Package::read(&folder.join(&name)) {
            found.push((month, package));
        }
    }
    found.sort_by_key(|(month, _)| *month);
    Ok(found)
}

fn period(begin: Timestamp, end: Timestamp) -> Result<Period, ArchiveError> {
    let period = Period::new(begin, end, Duration::MAX);
    period.map_err(|error| StoreError::Backend { source: Box::new(error) }.into())
}

/// Works on files off the threads that serve requests; errors name the path.
async fn in_thread<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, ArchiveError> {
    let done = off_thread(move |_| work()).await.map_err(|_| ArchiveError::Panicked)?;
    done.map_err(ArchiveError::of(path))
}
