use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use super::{OpenError, StoreSettings};
use crate::datasets::{Folder, FolderFile, FolderWriter};
use crate::model::Timestamp;

/// What an operator does with a store that keeps its data, beside serving it.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Brings the store's schema up to date, and returns its versions; does nothing when it is.
    ///
    /// # Errors
    ///
    /// Whatever stops it; what was done until then stands.
    async fn migrate(&self, settings: &StoreSettings) -> Result<Migrated, OpenError>;

    /// Adds a data set to what is stored, as one change; a wrong row leaves everything as it was.
    ///
    /// Doing it again changes nothing. What is stored under the same identifier (an area, province, gauge), or the same
    /// moment of the same thing (a flood state, reading), is replaced; reports, cards and posts that are stored already
    /// stay as they are; only what `replace` names is removed. Rows are held a few thousand at a time.
    ///
    /// # Errors
    ///
    /// Whatever stops it. A wrong row, or one that contradicts what is stored, is named by file and line.
    async fn import(
        &self,
        settings: &StoreSettings,
        folder: &Folder,
        replace: Replace,
    ) -> Result<Imported, OpenError>;

    /// Writes all that is stored, as it is at one moment, as a data set.
    ///
    /// Costs the memory of the areas, whatever the size of the history.
    ///
    /// # Errors
    ///
    /// Whatever stops it.
    async fn export(&self, settings: &StoreSettings, folder: FolderWriter) -> Result<(), OpenError>;

    /// Returns what the store holds and how fresh that is; changes nothing, and disturbs no server on it.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached. A replica that cannot be is no error.
    async fn status(&self, settings: &StoreSettings) -> Result<Status, OpenError>;
}

/// What a store holds, and how fresh that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The version of the schema there; 0 where there is none.
    pub schema: usize,
    /// The version this program needs.
    pub needed: usize,
    /// How many there are of each thing, by its name; none while the schema is too old.
    pub rows: Vec<(&'static str, u64)>,
    /// The time of the newest state, report and reading until now, where there is any; none while the schema is too old.
    pub newest: Vec<(&'static str, Option<Timestamp>)>,
    /// How far the replica is behind, or why that is not known; `None` without a replica.
    pub replica: Option<Result<Duration, String>>,
}

/// The versions of a schema before and after it was brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// Before; 0 where there was none.
    pub from: usize,
    /// Afterwards.
    pub to: usize,
}

/// What an import removes because the folder does not have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Nothing.
    #[default]
    Nothing,
    /// Areas. One with entries in the log of flood states stops the import.
    Areas,
    /// Areas, with their entries in the log of flood states.
    AreasAndLog,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// What became of the rows of each file there was.
    pub files: BTreeMap<FolderFile, Rows>,
    /// What was removed.
    pub removed: Removed,
    /// How many stored reports and pieces of infrastructure are in another area or city now, because areas were removed or
    /// the boundaries of cities changed.
    pub relocated: u64,
}

/// What became of the rows of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// How many there are.
    pub read: u64,
    /// How many were not stored before.
    pub added: u64,
    /// How many have taken the place of what was stored.
    pub replaced: u64,
}

impl Rows {
    /// Returns how many were stored already, or have a later row in their place.
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
