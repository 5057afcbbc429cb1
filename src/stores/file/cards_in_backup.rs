use std::collections::HashSet;
use std::path::Path;

use futures::TryStreamExt;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::error::FileError;
use crate::model::CardId;
use crate::stores::OpenError;

/// Returns the identifiers of all cards in a backup. Opens the backup read-only.
pub(crate) async fn cards_in_backup(backup: &Path) -> Result<HashSet<CardId>, OpenError> {
    let options = SqliteConnectOptions::new().filename(backup).read_only(true).disable_statement_logging();
    let mut connection = options.connect().await.map_err(FileError::from)?;
    let rows = sqlx::query_scalar::<_, String>("SELECT card_id FROM cards").fetch(&mut connection);
    let ids: Vec<String> = rows.try_collect().await.map_err(FileError::from)?;
    connection.close().await.map_err(FileError::from)?;
    Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
}
