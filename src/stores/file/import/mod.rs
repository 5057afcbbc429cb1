//! Adds a data set to the file, as one transaction.
//!
//! The stored data and the folder are compared in memory, and only the rows that differ are written.

mod comparison;
mod reports;

use sqlx::{Connection, SqliteConnection};
use tokio::task::block_in_place;

use self::comparison::Comparison;
use super::contents::{self, Counts};
use super::error::FileError;
use crate::data::folder::Folder;
use crate::model::Timestamp;
use crate::stores::{Imported, OpenError, Replace, import};

/// Imports a folder. Writers of other processes wait while rows are written, and while the folder is compared once more if
/// they have changed something during the first comparison.
pub(super) async fn import(
    connection: &mut SqliteConnection,
    folder: &Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<Imported, OpenError> {
    let mut snapshot = connection.begin().await.map_err(FileError::from)?;
    let mut compared = compare(&mut snapshot, folder, now, replace).await?;
    snapshot.rollback().await.map_err(FileError::from)?;
    if compared.changes.is_empty() {
        return Ok(compared.done);
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(FileError::from)?;
    if Counts::read(&mut transaction).await? != compared.counts {
        drop(compared);
        compared = compare(&mut transaction, folder, now, replace).await?;
    }
    if compared.changes.is_empty() {
        transaction.rollback().await.map_err(FileError::from)?;
        return Ok(compared.done);
    }
    compared.changes.write(compared.counts, &mut transaction).await?;
    transaction.commit().await.map_err(FileError::from)?;
    Ok(compared.done)
}

/// A folder that was compared with the stored data.
struct Compared {
    /// The counts of that data.
    counts: Counts,
    changes: Comparison,
    done: Imported,
}

async fn compare(
    stored: &mut SqliteConnection,
    folder: &Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<Compared, OpenError> {
    let counts = Counts::read(stored).await?;
    let mut changes = Comparison::with(contents::dataset(stored).await?);
    let done = block_in_place(|| import::import(&mut changes, folder, now, replace))?;
    Ok(Compared { counts, changes, done })
}
