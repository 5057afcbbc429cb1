//! The public archive: files for researchers, one folder for each month, without personal data.
//!
//! The archive has no state except its files. The data package of a month contains the number of the newest moderation log entry
//! when its data was read. A later entry about a report of that month withdraws the month. Each server reads the log every few
//! seconds and remembers the newest entry of each month, so that a download needs no query.

mod files;
mod month;
mod package;
mod withdrawal;
mod writing;

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

pub(crate) use self::month::Month;
pub(crate) use self::package::{Package, Resource};

use self::withdrawal::ModerationProgress;
use crate::config::Config;
use crate::formats::tables::TableSchema;
use crate::model::{Clock, Timestamp};
use crate::runtime::off_thread;
use crate::stores::{Store, StoreError};

/// Writes the archive, and decides which months are public. Clones share their state.
#[derive(Clone, Debug)]
pub(crate) struct Archive {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    tables: Arc<TableSchema>,
    config: Arc<Config>,
    folder: PathBuf,
    moderated: Arc<Mutex<ModerationProgress>>,
}

impl Archive {
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
        config: &Config,
        folder: PathBuf,
    ) -> Self {
        Self {
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            tables: Arc::new(TableSchema::new(config.country.data(), "")),
            config: Arc::new(config.clone()),
            folder,
            moderated: Arc::default(),
        }
    }

    pub(crate) async fn months(&self) -> Result<BTreeMap<Month, Package>, StoreError> {
        self.read_log_once().await?;
        let mut months = self.read_packages().await;
        months.retain(|month, package| self.is_public(*month, package));
        Ok(months)
    }

    /// Reads the data packages of all months in the archive's folder. Skips months that cannot be read.
    async fn read_packages(&self) -> BTreeMap<Month, Package> {
        let folder = self.folder.clone();
        let read = |entry: DirEntry| {
            let month = Month::parse(entry.file_name().to_str()?)?;
            Some((month, Package::read(&entry.path()).ok()?))
        };
        let task = off_thread(move |_| {
            fs::read_dir(folder).into_iter().flatten().flatten().filter_map(read).collect()
        });
        task.await.unwrap_or_default()
    }

    /// Returns the data package of the areas; `None` if the areas have not been written yet.
    pub(crate) async fn areas(&self) -> Option<Package> {
        let folder = self.folder.clone();
        off_thread(move |_| Package::read(&folder).ok()).await.ok().flatten()
    }

    /// Opens a file of a month, or without `month` a file of the areas. Returns `None` if the file is missing or not public.
    pub(crate) async fn file(
        &self,
        month: Option<&str>,
        name: &str,
    ) -> Result<Option<(File, Resource)>, StoreError> {
        let month = match month {
            None => None,
            Some(month) => {
                let Some(month) = Month::parse(month) else { return Ok(None) };
                self.read_log_once().await?;
                Some(month)
            }
        };
        let (archive, name) = (self.clone(), name.to_owned());
        Ok(off_thread(move |_| archive.open(month, &name)).await.ok().flatten())
    }

    /// Returns `None` if the file's length differs from the data package, or if the month is withdrawn.
    fn open(&self, month: Option<Month>, name: &str) -> Option<(File, Resource)> {
        let folder = month.map_or_else(|| self.folder.clone(), |month| self.month_folder(month));
        let package = Package::read(&folder).ok()?;
        let resource = package.resource(&folder, name)?;
        let file = File::open(folder.join(name)).ok()?;
        // The month's folder may have been replaced since the data package was read.
        let is_described = file.metadata().ok()?.len() == resource.bytes;
        // Check after opening: a month could be withdrawn between an earlier check and the opening.
        let is_public = month.is_none_or(|month| self.is_public(month, &package));
        (is_described && is_public).then_some((file, resource))
    }

    fn month_folder(&self, month: Month) -> PathBuf {
        self.folder.join(month.to_string())
    }

    /// Whether the month may be served: after it was written, no report of it was moderated or became old enough to be erased.
    fn is_public(&self, month: Month, package: &Package) -> bool {
        let keep = self.config.reports.keep;
        let oldest = package.oldest_report.map(Timestamp::from).filter(|_| !keep.is_zero());
        let is_kept = oldest.is_none_or(|oldest| oldest >= self.clock.now().saturating_sub(keep));
        is_kept && self.moderation().is_current(month, package.moderated)
    }
}
