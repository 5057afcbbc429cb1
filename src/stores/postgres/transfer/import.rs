use std::mem;
use std::sync::Arc;

use rocket::tokio::runtime::Handle;
use sqlx::PgConnection;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

use super::super::error::described;
use super::super::places::{areas, regions};
use super::{history, intake, places};
use crate::datasets::{DatasetError, Folder, FolderFile, Row};
use crate::model::{AreaSet, Locator, Timestamp};
use crate::stores::StoreError;

/// How many rows go to the database at once.
const BATCH: usize = 2000;

/// Why a data set was not imported.
#[derive(Debug, thiserror::Error)]
pub(super) enum ImportError {
    #[error("{0}")]
    Dataset(#[from] DatasetError),
    #[error("{}", described(.0))]
    Database(#[from] sqlx::Error),
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// One import: a transaction that takes a folder's rows.
///
/// Reading the folder blocks the thread, and so does everything here: rows are waited for by nobody else.
pub(super) struct Import<'a> {
    pub(super) folder: &'a Folder,
    pub(super) now: Timestamp,
    runtime: Handle,
    connection: PgConnection,
}

/// What is on the map before the history is read: of the store and of the folder.
pub(super) struct Map {
    pub(super) areas: Arc<AreaSet>,
    pub(super) locator: Locator,
}

/// Imports a folder. Blocks the thread.
pub(in super::super) fn import(
    connection: PgConnection,
    folder: &Folder,
    now: Timestamp,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut import = Import { folder, now, runtime: Handle::current(), connection };
    Ok(import.run()?)
}

impl Import<'_> {
    fn run(&mut self) -> Result<(), ImportError> {
        self.execute(sqlx::query("BEGIN"))?;
        // One import at a time, which counts its changes where nobody else does: it takes long.
        self.execute(sqlx::query("SELECT pg_advisory_xact_lock(hashtext('siaga import'))"))?;
        self.execute(sqlx::query("SET LOCAL siaga.shard = 32"))?;
        places::areas_and_regions(self)?;
        let map = self.map()?;
        places::infrastructure(self, &map)?;
        history::gauges(self, &map)?;
        history::flood_states(self, &map)?;
        // Last, since new reports may have to wait for it.
        intake::reports(self, &map)?;
        intake::cards(self)?;
        intake::partner_posts(self)?;
        history::standing_states(self)?;
        intake::count_on(self)?;
        self.execute(sqlx::query("SELECT pg_notify('siaga', '')"))?;
        self.execute(sqlx::query("COMMIT"))?;
        Ok(())
    }

    fn map(&mut self) -> Result<Map, ImportError> {
        let areas = Arc::new(self.runtime.block_on(areas(&mut self.connection))?);
        let regions = self.runtime.block_on(regions(&mut self.connection))?;
        let locator = Locator::new(Arc::clone(&areas), regions.into_iter().map(Arc::new).collect());
        Ok(Map { areas, locator })
    }

    /// Gives the rows of a file to the database, a batch at a time; answers whether there were any.
    pub(super) fn fill<T>(
        &mut self,
        read: impl FnOnce(&mut dyn FnMut(Row<T>) -> Result<(), ImportError>) -> Result<(), ImportError>,
        mut insert: impl FnMut(&mut Self, Vec<Row<T>>) -> Result<(), ImportError>,
    ) -> Result<bool, ImportError> {
        let (mut rows, mut any) = (Vec::new(), false);
        read(&mut |row| {
            rows.push(row);
            any = true;
            if rows.len() < BATCH { Ok(()) } else { insert(self, mem::take(&mut rows)) }
        })?;
        if !rows.is_empty() {
            insert(self, rows)?;
        }
        Ok(any)
    }

    pub(super) fn execute(&mut self, query: Query<'_, Postgres, PgArguments>) -> Result<(), ImportError> {
        self.runtime.block_on(query.execute(&mut self.connection))?;
        Ok(())
    }

    pub(super) fn scalars<C: FromIterator<String>>(&mut self, sql: &'static str) -> Result<C, ImportError> {
        let found: Vec<String> =
            self.runtime.block_on(sqlx::query_scalar(sql).fetch_all(&mut self.connection))?;
        Ok(found.into_iter().collect())
    }

    /// Fails with the first line a query finds at fault.
    pub(super) fn refuse(
        &mut self,
        file: FolderFile,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<(), ImportError> {
        let found = self.runtime.block_on(query.fetch_optional(&mut self.connection))?;
        let Some(found) = found else { return Ok(()) };
        let line: i64 = sqlx::Row::try_get(&found, 0)?;
        let reason: String = sqlx::Row::try_get(&found, 1)?;
        Err(self.folder.fault(file, line.cast_unsigned(), reason).into())
    }
}

/// One column of the rows.
pub(super) fn column<'r, T, C>(rows: &'r [Row<T>], of: impl Fn(&'r T) -> C) -> Vec<C> {
    rows.iter().map(|row| of(&row.value)).collect()
}

/// The lines of the rows.
pub(super) fn lines<T>(rows: &[Row<T>]) -> Vec<i64> {
    rows.iter().map(|row| row.line.cast_signed()).collect()
}
