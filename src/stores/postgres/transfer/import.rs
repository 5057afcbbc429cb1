use std::mem;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::{Query, QueryAs};
use sqlx::{FromRow, PgConnection, Postgres};
use tokio::runtime::Handle;

use super::super::error::described;
use crate::datasets::{DatasetError, Folder, FolderFile, FolderRow};
use crate::model::Timestamp;
use crate::stores::{Imported, StoreError};

/// From here on, no other session sets a state.
pub(super) const LOCK_STATES: &str = "LOCK TABLE flood_states IN SHARE ROW EXCLUSIVE MODE";

/// How many rows are sent to the database at once.
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
    /// What should be removed cannot be.
    #[error("{0}")]
    Kept(String),
}

/// One import: a transaction that writes a folder's rows.
///
/// Reading the folder blocks the thread, and so does everything here: nothing else runs on the thread.
pub(super) struct Import<'a> {
    pub(super) folder: &'a Folder,
    pub(super) now: Timestamp,
    runtime: Handle,
    connection: PgConnection,
    pub(super) done: Imported,
}

/// How many rows a statement has written.
#[derive(Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) added: u64,
    pub(super) replaced: u64,
}

impl Written {
    /// Reads the first two columns of a row.
    pub(super) fn of(row: &PgRow) -> Result<Self, ImportError> {
        let count = |column: usize| sqlx::Row::try_get::<i64, _>(row, column).map(i64::cast_unsigned);
        Ok(Self { added: count(0)?, replaced: count(1)? })
    }
}

/// Wraps a statement that inserts or updates rows, so that it returns how many rows it inserted and how many it
/// updated. A row that was inserted has no `xmax`.
macro_rules! counting {
    ($insert:expr) => {
        concat!(
            "WITH written AS (",
            $insert,
            " RETURNING xmax = 0 AS added)
             SELECT count(*) FILTER (WHERE added), count(*) FILTER (WHERE NOT added) FROM written"
        )
    };
}
pub(super) use counting;

impl<'a> Import<'a> {
    /// Creates an import over this connection.
    pub(super) fn new(connection: PgConnection, folder: &'a Folder, now: Timestamp) -> Self {
        Self { folder, now, runtime: Handle::current(), connection, done: Imported::default() }
    }

    /// Reads over the connection.
    pub(super) fn read<T>(
        &mut self,
        read: impl AsyncFnOnce(&mut PgConnection) -> Result<T, StoreError>,
    ) -> Result<T, ImportError> {
        Ok(self.runtime.block_on(read(&mut self.connection))?)
    }

    /// Sends the rows of a file to the database, a batch at a time, and counts them. Returns whether there were any.
    pub(super) fn fill<T>(
        &mut self,
        file: FolderFile,
        read: impl FnOnce(&mut dyn FnMut(FolderRow<T>) -> Result<(), ImportError>) -> Result<(), ImportError>,
        mut insert: impl FnMut(&mut Self, Vec<FolderRow<T>>) -> Result<Written, ImportError>,
    ) -> Result<bool, ImportError> {
        let (mut rows, mut count) = (Vec::new(), 0);
        let mut write = |import: &mut Self, rows| {
            let written = insert(import, rows)?;
            import.count(file, written);
            Ok(())
        };
        read(&mut |row| {
            rows.push(row);
            count += 1;
            if rows.len() < BATCH { Ok(()) } else { write(self, mem::take(&mut rows)) }
        })?;
        if !rows.is_empty() {
            write(self, rows)?;
        }
        if self.folder.has(file) {
            self.done.files.entry(file).or_default().read += count;
        }
        Ok(count > 0)
    }

    /// Adds to the counts of the rows of a file that were written.
    pub(super) fn count(&mut self, file: FolderFile, written: Written) {
        let rows = self.done.files.entry(file).or_default();
        rows.added += written.added;
        rows.replaced += written.replaced;
    }

    /// Executes a statement, and returns how many rows it has written.
    pub(super) fn execute(&mut self, query: Query<'_, Postgres, PgArguments>) -> Result<u64, ImportError> {
        Ok(self.runtime.block_on(query.execute(&mut self.connection))?.rows_affected())
    }

    /// Locks tables until the end of the import. Other sessions queue behind this statement, so it does not wait long
    /// itself.
    pub(super) fn lock(&mut self, sql: &'static str) -> Result<(), ImportError> {
        self.execute(sqlx::query("SET LOCAL lock_timeout = '3s'"))?;
        self.execute(sqlx::query(sql))?;
        self.execute(sqlx::query("SET LOCAL lock_timeout = 0"))?;
        Ok(())
    }

    /// Executes a statement that only adds rows.
    pub(super) fn add(&mut self, query: Query<'_, Postgres, PgArguments>) -> Result<Written, ImportError> {
        Ok(Written { added: self.execute(query)?, replaced: 0 })
    }

    /// Executes a [`counting!`] statement.
    pub(super) fn write(&mut self, query: Query<'_, Postgres, PgArguments>) -> Result<Written, ImportError> {
        Written::of(&self.row(query)?)
    }

    /// Returns the row of a query that has one.
    pub(super) fn row(&mut self, query: Query<'_, Postgres, PgArguments>) -> Result<PgRow, ImportError> {
        Ok(self.runtime.block_on(query.fetch_one(&mut self.connection))?)
    }

    /// Returns the rows of a query.
    pub(super) fn rows<R>(
        &mut self,
        query: QueryAs<'_, Postgres, R, PgArguments>,
    ) -> Result<Vec<R>, ImportError>
    where
        R: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        Ok(self.runtime.block_on(query.fetch_all(&mut self.connection))?)
    }

    pub(super) fn scalars<C: FromIterator<String>>(&mut self, sql: &'static str) -> Result<C, ImportError> {
        let found: Vec<String> =
            self.runtime.block_on(sqlx::query_scalar(sql).fetch_all(&mut self.connection))?;
        Ok(found.into_iter().collect())
    }

    /// Fails if the query finds a wrong line; the error names the first one.
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

/// Returns one column of the rows.
pub(super) fn column<'r, T, C>(rows: &'r [FolderRow<T>], of: impl Fn(&'r T) -> C) -> Vec<C> {
    rows.iter().map(|row| of(&row.value)).collect()
}

/// Returns the line numbers of the rows.
pub(super) fn lines<T>(rows: &[FolderRow<T>]) -> Vec<i64> {
    rows.iter().map(|row| row.line.cast_signed()).collect()
}
