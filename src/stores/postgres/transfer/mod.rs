//! Imports and exports data sets. Each import or export is one transaction, which streams the rows.

mod export;
mod history;
mod places;
mod reports;
mod sources;
mod transaction;

use sqlx::PgConnection;

pub(super) use self::export::export;
pub(super) use self::transaction::LOCK_STATES;
use self::transaction::Transaction;
use crate::data::folder::Folder;
use crate::model::Timestamp;
use crate::stores::{ImportSummary, OpenError, Replace, import};

/// Imports a folder. Blocks the thread.
pub(super) fn import(
    connection: PgConnection,
    folder: &Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<ImportSummary, OpenError> {
    let mut transaction = Transaction::begin(connection, now)?;
    reports::create_staging_tables(&mut transaction)?;
    let done = import::import(&mut transaction, folder, now, replace)?;
    history::update_states(&mut transaction)?;
    reports::advance_sequences(&mut transaction)?;
    transaction.commit()?;
    Ok(done)
}
