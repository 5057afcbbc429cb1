use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;

use super::{OpenError, StoreSettings};
use crate::data::folder::{Folder, FolderFile, FolderWriter};
use crate::model::Timestamp;

/// What an operator does with a store that keeps its data, besides serving it.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Brings the store's schema up to date, and returns its versions before and after. Does nothing if it is up to
    /// date.
    ///
    /// # Errors
    ///
    /// Any error that stops it. What was done before the error stays.
    async fn migrate(&self, settings: &StoreSettings) -> Result<Migrated, OpenError>;

    /// Adds a data set to the stored data, as one change. A wrong row leaves everything as it was.
    ///
    /// Importing it again changes nothing. The import replaces what is stored under the same identifier (an area,
    /// province or gauge), or for the same thing and time (a flood state or reading). Stored reports, cards and posts
    /// stay as they are. Only what `replace` names is removed. The import holds a few thousand rows at a time.
    ///
    /// # Errors
    ///
    /// Any error that stops it. If a row is wrong, or contradicts what is stored, the error names its file and line.
    async fn import(
        &self,
        settings: &StoreSettings,
        folder: &Folder,
        replace: Replace,
    ) -> Result<Imported, OpenError>;

    /// Writes all stored data, as it is at one moment, as a data set.
    ///
    /// The areas must fit into memory; the history does not have to.
    ///
    /// # Errors
    ///
    /// Any error that stops it.
    async fn export(&self, settings: &StoreSettings, folder: FolderWriter) -> Result<(), OpenError>;

    /// Returns what the store holds and how fresh it is. Changes nothing, and disturbs no server that uses the store.
    ///
    /// # Errors
    ///
    /// If the store cannot be reached.
    async fn status(&self, settings: &StoreSettings) -> Result<Status, OpenError>;

    /// Writes a copy of all that the store keeps, as it is at one moment, to a new file, while a server may be running.
    /// **Default: an error**, for stores whose own programs do it
    ///
    /// # Errors
    ///
    /// Any error that stops it; then there is no file.
    async fn backup(&self, _settings: &StoreSettings, _to: &Path) -> Result<(), OpenError> {
        Err(NO_BACKUP.into())
    }

    /// Replaces all that the store keeps by a backup, while no server is running. Returns where it keeps what was replaced, if
    /// it does. **Default: an error**, as for [`backup`](Self::backup)
    ///
    /// # Errors
    ///
    /// Any error that stops it; then everything is as it was.
    async fn restore(&self, _settings: &StoreSettings, _from: &Path) -> Result<Option<PathBuf>, OpenError> {
        Err(NO_BACKUP.into())
    }
}

const NO_BACKUP: &str =
    "this store has no backup of its own: use the programs of its database, such as pg_dump";

/// What a store holds, and how fresh it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The version of the stored schema; 0 if there is none.
    pub schema: usize,
    /// The version that this program needs.
    pub needed: usize,
    /// The number of items of each kind, by name; empty while the schema is too old.
    pub rows: Vec<(&'static str, u64)>,
    /// The time of the newest state, report and reading that is not in the future, if any; empty while the schema is
    /// too old.
    pub newest: Vec<(&'static str, Option<Timestamp>)>,
    /// When each source was last heard, by name.
    pub heard: BTreeMap<String, Timestamp>,
    /// How many bytes are free where the store keeps its data; `None` if it does not know.
    pub free: Option<u64>,
    /// When [`Upkeep::backup`] last made a copy, if it ever did; `None` if the store does not know.
    pub last_backup: Option<Option<Timestamp>>,
}

impl Status {
    /// Adds how many alerts are in force, and how many flooded areas nobody has confirmed for so long that they have none.
    pub(super) fn add_alerts(&mut self, in_force: u64) {
        let flooded =
            self.rows.iter().find(|(name, _)| *name == "flooded areas").map_or(0, |(_, count)| *count);
        self.rows.extend([("alerts in force", in_force), ("unconfirmed", flooded.saturating_sub(in_force))]);
    }
}

/// Returns what the SQL stores count for [`Status::rows`], each by its name and its query. The log of flood states differs.
pub(super) fn counted(
    flooded: &'static str,
    log_entries: &'static str,
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
        ("keys", "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL"),
    ];
    counts.into_iter()
}

/// The versions of a schema before and after it was brought up to date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The version before; 0 if there was none.
    pub from: usize,
    /// The version after.
    pub to: usize,
    /// The migrations that this call applied, in their order.
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

/// What an import removes because the folder does not contain it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Nothing.
    #[default]
    Nothing,
    /// Areas. If one of them has entries in the log of flood states, the import fails.
    Areas,
    /// Areas, with their entries in the log of flood states.
    AreasAndLog,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The rows of each file in the folder, counted.
    pub files: BTreeMap<FolderFile, Rows>,
    /// What was removed.
    pub removed: Removed,
    /// The number of areas whose past was changed by the import. Alerts that were already sent about them may no longer match.
    pub rewritten: u64,
    /// How many stored reports and pieces of infrastructure are in another area or city now, because areas were removed
    /// or the boundaries of cities changed.
    pub relocated: u64,
}

/// The rows of a file, counted by what the import did with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// How many the file has.
    pub read: u64,
    /// How many were not stored before.
    pub added: u64,
    /// How many replaced a stored row.
    pub replaced: u64,
}

impl Rows {
    /// Returns how many were stored already, or are replaced by a later row of the file.
    #[must_use]
    pub fn skipped(self) -> u64 {
        self.read.saturating_sub(self.added + self.replaced)
    }
}

/// What an import removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many areas.
    pub areas: u64,
    /// How many entries of the log of flood states.
    pub changes: u64,
}
