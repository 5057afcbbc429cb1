//! Imports a data set in one transaction: compares it with the stored data in memory, and writes only the rows that differ.

mod comparison;
mod reports;

use sqlx::{Connection, SqliteConnection};
use tokio::task::block_in_place;

use self::comparison::Comparison;
use super::contents::{self, Counts};
use super::error::FileError;
use crate::data::folder::Folder;
use crate::model::Timestamp;
use crate::stores::{ImportSummary, OpenError, Replace, import};

/// Imports a folder. Compares without the write lock. If another process has written meanwhile, compares again under the lock.
pub(super) async fn import(
    connection: &mut SqliteConnection,
    folder: &Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<ImportSummary, OpenError> {
    let mut snapshot = connection.begin().await.map_err(FileError::from)?;
    let mut compared = compare(&mut snapshot, folder, now, replace).await?;
    snapshot.rollback().await.map_err(FileError::from)?;
    if compared.changes.is_empty() {
        return Ok(compared.summary);
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(FileError::from)?;
    if Counts::read(&mut transaction).await? != compared.counts {
        drop(compared);
        compared = compare(&mut transaction, folder, now, replace).await?;
    }
    if compared.changes.is_empty() {
        transaction.rollback().await.map_err(FileError::from)?;
        return Ok(compared.summary);
    }
    compared.changes.write(compared.counts, &mut transaction).await?;
    transaction.commit().await.map_err(FileError::from)?;
    Ok(compared.summary)
}

struct ComparedFolder {
    counts: Counts,
    changes: Comparison,
    summary: ImportSummary,
}

async fn compare(
    stored: &mut SqliteConnection,
    folder: &Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<ComparedFolder, OpenError> {
    let counts = Counts::read(stored).await?;
    let mut changes = Comparison::new(contents::dataset(stored).await?);
    let done = block_in_place(|| import::import(&mut changes, folder, now, replace))?;
    Ok(ComparedFolder { counts, changes, summary: done })
}
