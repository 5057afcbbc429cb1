use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;

use super::{OpenError, StoreSettings};
use crate::data::folder::{Folder, FolderFile, FolderWriter};
use crate::model::Timestamp;

/// Maintenance of a persistent store by an operator.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Applies the missing migrations to the store's schema, and returns the schema versions before and after.
    ///
    /// # Errors
    ///
    /// Any error. Migrations that were applied before the error stay applied.
    async fn migrate(&self, settings: &StoreSettings) -> Result<MigrationSummary, OpenError>;

    /// Adds a data set to the stored data, in one atomic change: if any row is wrong, nothing changes.
    ///
    /// Importing a data set again changes nothing. A row replaces the stored row with the same identifier (areas, provinces,
    /// cities, gauges), or of the same object and time (flood states, readings). Stored reports and posts are not replaced; a
    /// stored card can only receive its report. Removes only rows that `replace` selects. The file store holds all rows in
    /// memory, the `PostgreSQL` store a few thousand at a time.
    ///
    /// # Errors
    ///
    /// If a row is wrong, or contradicts the stored data, the error names its file and line.
    async fn import(
        &self,
        settings: &StoreSettings,
        folder: &Folder,
        replace: Replace,
    ) -> Result<ImportSummary, OpenError>;

    /// Exports all stored data, as one snapshot, to a data set. The areas must fit into memory; the history need not.
    async fn export(&self, settings: &StoreSettings, folder: FolderWriter) -> Result<(), OpenError>;

    /// Returns how much data the store holds, and how new it is. Changes nothing, and does not slow down running servers.
    async fn status(&self, settings: &StoreSettings) -> Result<Status, OpenError>;

    /// Writes a snapshot of all stored data to a new file. A server may be running meanwhile. **Default: an error**, for
    /// databases that have backup programs of their own
    ///
    /// # Errors
    ///
    /// Any error. The new file then does not exist.
    async fn backup(&self, _settings: &StoreSettings, _to: &Path) -> Result<(), OpenError> {
        Err(NO_BACKUP.into())
    }

    /// Replaces all stored data by a backup. No server may be running. Returns where the old data is, if the store has kept it.
    /// **Default: an error**, like [`backup`](Self::backup)
    ///
    /// # Errors
    ///
    /// Any error. It leaves the stored data unchanged.
    async fn restore(&self, _settings: &StoreSettings, _from: &Path) -> Result<Option<PathBuf>, OpenError> {
        Err(NO_BACKUP.into())
    }
}

const NO_BACKUP: &str =
    "this store has no backup of its own: use the programs of its database, such as pg_dump";

/// How much data a store holds, and how new the data is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The version of the stored schema; 0 if there is none.
    pub schema: usize,
    /// The schema version that this program needs.
    pub needed: usize,
    /// The number of items of each kind, by name; empty while the schema is too old.
    pub rows: Vec<(&'static str, u64)>,
    /// The times of the newest state, report and reading that are not in the future; empty while the schema is too old.
    pub newest: Vec<(&'static str, Option<Timestamp>)>,
    /// When each source last reported, by name.
    pub last_heard: BTreeMap<String, Timestamp>,
    /// The number of free bytes on the disk of the data; `None` if unknown.
    pub free: Option<u64>,
    /// When [`Upkeep::backup`] last made a copy; `Some(None)` if never, `None` if the store does not record backups.
    pub last_backup: Option<Option<Timestamp>>,
}

impl Status {
    /// Adds the numbers of alerts in force, and of flooded areas without an alert, whose state nobody has confirmed for long.
    pub(super) fn add_alerts(&mut self, in_force: u64) {
        let flooded =
            self.rows.iter().find(|(name, _)| *name == "flooded areas").map_or(0, |(_, count)| *count);
        self.rows.extend([("alerts in force", in_force), ("unconfirmed", flooded.saturating_sub(in_force))]);
    }
}

/// Returns the name and query of each count in [`Status::rows`]. The stores differ in their queries of the flood log.
pub(super) fn count_queries(
    flooded: &'static str,
    log_entries: &'static str,
    keys: &'static str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let counts = [
        ("areas", "SELECT count(*) FROM areas"),
        ("provinces", "SELECT count(*) FROM regions"),
        ("cities", "SELECT count(*) FROM cities"),
        ("infrastructure", "SELECT count(*) FROM infrastructure"),
        ("flooded areas", flooded),
        ("log entries", log_entries),
        ("reports", "SELECT count(*) FROM reports"),
        ("hidden reports", "SELECT count(*) FROM reports WHERE hidden"),
        ("erased reports", "SELECT count(*) FROM erased_reports"),
        ("cards", "SELECT count(*) FROM cards"),
        ("images waiting", "SELECT count(*) FROM images WHERE state = 'received'"),
        ("gauges", "SELECT count(*) FROM gauges"),
        ("readings", "SELECT count(*) FROM gauge_readings"),
        ("keys", keys),
    ];
    counts.into_iter()
}

/// The schema versions before and after a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationSummary {
    /// The schema version before; 0 if there was no schema.
    pub from: usize,
    /// The schema version after.
    pub to: usize,
    /// The applied migrations, in order.
    pub applied: Vec<AppliedMigration>,
}

/// A migration that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedMigration {
    /// Its number.
    pub number: i64,
    /// Its name.
    pub name: String,
    /// How long it took.
    pub took: Duration,
}

/// Whether an import removes areas that its folder does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Removes no area.
    #[default]
    Nothing,
    /// Removes the areas that the folder does not contain. Fails if one of them has entries in the log of flood states.
    Areas,
    /// Removes the areas that the folder does not contain, and their entries in the log of flood states.
    AreasAndLog,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportSummary {
    /// The counts of rows by file in the folder.
    pub files: BTreeMap<FolderFile, RowCounts>,
    /// The removed rows.
    pub removed: RemovedRows,
    /// The number of areas whose past flood states have changed. Alerts that were already sent may no longer match these states.
    pub rewritten: u64,
    /// The number of reports and infrastructure features whose area or city has changed with the areas or city boundaries.
    pub relocated: u64,
}

/// The number of rows of a file, by the result of their import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// How many rows the file has.
    pub read: u64,
    /// How many rows were not stored before.
    pub added: u64,
    /// How many rows replaced a stored row.
    pub replaced: u64,
}

impl RowCounts {
    /// Returns the number of rows that were stored already, or that a later row of the file replaces.
    #[must_use]
    pub fn skipped(self) -> u64 {
        self.read.saturating_sub(self.added + self.replaced)
    }
}

/// The rows that an import removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedRows {
    /// The number of areas.
    pub areas: u64,
    /// The number of entries of the log of flood states.
    pub changes: u64,
}
