//! Adds a data set to the file, as one transaction.
//!
//! The stored data and the folder are compared in memory, and only the rows that differ are written.

mod history;
mod intake;
mod merge;
mod places;

use sqlx::{Connection, SqliteConnection};
use tokio::task::block_in_place;

use self::merge::{Merge, Part};
use super::contents::{self, Counts};
use super::error::FileError;
use super::tables;
use crate::datasets::Folder;
use crate::model::Timestamp;
use crate::stores::{Imported, OpenError, Replace, Revision};

/// Imports a folder. Writers of other processes wait while rows are written, and while the folder is compared once more if
/// they have changed something during the first comparison.
pub(super) async fn import(
    connection: &mut SqliteConnection,
    folder: &Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<Imported, OpenError> {
    let mut snapshot = connection.begin().await.map_err(FileError::from)?;
    let (compared, mut merge) = compare(&mut snapshot, folder, now, replace).await?;
    snapshot.rollback().await.map_err(FileError::from)?;
    if merge.changed.is_empty() {
        return Ok(merge.done);
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(FileError::from)?;
    let mut counts = Counts::read(&mut transaction).await?;
    if counts != compared {
        drop(merge);
        (counts, merge) = compare(&mut transaction, folder, now, replace).await?;
    }
    if merge.changed.is_empty() {
        transaction.rollback().await.map_err(FileError::from)?;
        return Ok(merge.done);
    }
    for area in &merge.removed {
        tables::remove_area(&mut transaction, *area).await?;
    }
    if merge.infrastructure_moved {
        tables::remove_infrastructure(&mut transaction).await?;
    }
    for row in &merge.rows {
        row.write(&mut transaction).await?;
    }
    merge.counted(counts).write(&mut transaction).await?;
    transaction.commit().await.map_err(FileError::from)?;
    Ok(merge.done)
}

/// Compares a folder with the stored data. Returns the counts of that data, too.
async fn compare<'f>(
    stored: &mut SqliteConnection,
    folder: &'f Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<(Counts, Merge<'f>), OpenError> {
    let counts = Counts::read(stored).await?;
    let stored = contents::dataset(stored).await?;
    let merge = block_in_place(|| {
        let mut merge = Merge::new(stored, folder, now);
        merge.run(replace).map(|()| merge)
    })?;
    Ok((counts, merge))
}

impl Merge<'_> {
    /// Returns the counts after the import. What is on the map shows in everything that is selected by it.
    fn counted(&self, counts: Counts) -> Counts {
        let next = |revision: Revision, by: &[Part]| {
            Revision(revision.0 + u64::from(by.iter().any(|part| self.changed.contains(part))))
        };
        let mut after = counts;
        after.changes = counts.changes.wrapping_add(1);
        after.revisions.places = next(counts.revisions.places, &[Part::Places]);
        after.revisions.floods = next(counts.revisions.floods, &[Part::Places, Part::Floods]);
        after.revisions.reports = next(counts.revisions.reports, &[Part::Places, Part::Reports]);
        after.revisions.gauges = next(counts.revisions.gauges, &[Part::Gauges]);
        after
    }
}
