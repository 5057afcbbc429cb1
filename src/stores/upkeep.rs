use async_trait::async_trait;

use super::{OpenError, StoreSettings};
use crate::datasets::{Folder, FolderWriter};

/// What an operator does with a store that keeps its data, beside serving it.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Brings the store's schema up to date; nothing when it is.
    ///
    /// # Errors
    ///
    /// Whatever stops it; what was done until then stands.
    async fn migrate(&self, settings: &StoreSettings) -> Result<(), OpenError>;

    /// Adds a data set to what is stored, as one change; a wrong row leaves everything as it was.
    ///
    /// Doing it again changes nothing. What is stored under the same identifier (an area, province, gauge), or the same
    /// moment of the same thing (a flood state, reading), is replaced; reports, cards and posts that are stored already
    /// stay as they are; nothing is removed. Rows are held a few thousand at a time.
    ///
    /// # Errors
    ///
    /// Whatever stops it. A wrong row, or one that contradicts what is stored, is named by file and line.
    async fn import(&self, settings: &StoreSettings, folder: Folder) -> Result<(), OpenError>;

    /// Writes all that is stored, as it is at one moment, as a data set.
    ///
    /// Costs the memory of the areas, whatever the size of the history.
    ///
    /// # Errors
    ///
    /// Whatever stops it.
    async fn export(&self, settings: &StoreSettings, folder: FolderWriter) -> Result<(), OpenError>;
}
