use std::collections::BTreeSet;

use sqlx::postgres::PgArguments;
use sqlx::query::{Query, QueryAs};
use sqlx::{AssertSqlSafe, PgConnection, Postgres};
use tokio::runtime::Handle;

use super::super::error::DatabaseError;
use super::super::rows::{Columns, recordset};
use super::super::statement::Row;
use crate::model::Timestamp;
use crate::stores::import::{RowVisitor, Target};
use crate::stores::{OpenError, StoreError};

/// Prevents other sessions from setting a state until the transaction ends.
pub(in super::super) const LOCK_STATES: &str = "LOCK TABLE flood_states IN SHARE ROW EXCLUSIVE MODE";

/// The transaction of an import. Its methods block the thread, as does reading the folder.
pub(super) struct Transaction {
    pub(super) now: Timestamp,
    pub(super) changed_areas: BTreeSet<i64>,
    runtime: Handle,
    connection: PgConnection,
    pub(super) is_locked: bool,
}

impl Transaction {
    /// Begins a transaction, and waits until no other import runs.
    pub(super) fn begin(connection: PgConnection, now: Timestamp) -> Result<Self, OpenError> {
        let runtime = Handle::current();
        let mut import = Self { now, changed_areas: BTreeSet::new(), runtime, connection, is_locked: false };
        import.execute(sqlx::query("BEGIN"))?;
        // Only one import runs at a time. It counts its changes in the last revision shard, so that other writers need not wait.
        import.execute(sqlx::query("SELECT pg_advisory_xact_lock(hashtext('siaga import'))"))?;
        import.execute(sqlx::query("SET LOCAL siaga.shard = 32"))?;
        Ok(import)
    }

    pub(super) fn commit(mut self) -> Result<(), OpenError> {
        self.execute(sqlx::query("SELECT pg_notify('siaga', '')"))?;
        self.execute(sqlx::query("COMMIT"))
    }

    pub(super) fn read<T>(
        &mut self,
        read: impl AsyncFnOnce(&mut PgConnection) -> Result<T, StoreError>,
    ) -> Result<T, OpenError> {
        Ok(self.runtime.block_on(read(&mut self.connection))?)
    }

    pub(super) fn execute(&mut self, query: Query<'_, Postgres, PgArguments>) -> Result<(), OpenError> {
        let outcome = self.runtime.block_on(query.execute(&mut self.connection));
        Ok(outcome.map(drop).map_err(DatabaseError)?)
    }

    pub(super) fn rows<R: Row>(
        &mut self,
        query: QueryAs<'_, Postgres, R, PgArguments>,
    ) -> Result<Vec<R>, OpenError> {
        Ok(self.runtime.block_on(query.fetch_all(&mut self.connection)).map_err(DatabaseError)?)
    }

    pub(super) fn for_each_row<R: Row>(
        &mut self,
        query: QueryAs<'_, Postgres, R, PgArguments>,
        each: RowVisitor<'_, R>,
    ) -> Result<(), OpenError> {
        self.rows(query)?.iter().for_each(each);
        Ok(())
    }

    /// Inserts rows. `rest` is the end of the statement, for example its conflict clause.
    pub(super) fn insert<T: Columns>(
        &mut self,
        table: &str,
        rows: &[T],
        rest: &str,
    ) -> Result<(), OpenError> {
        let columns = T::names().join(", ");
        let sql = format!(
            "INSERT INTO {table} ({columns})
             SELECT {columns} FROM json_populate_recordset(NULL::{table}, $1::json) {rest}"
        );
        self.execute(sqlx::query(AssertSqlSafe(sql)).bind(recordset(rows)?))
    }

    pub(super) fn upsert<T: Columns>(&mut self, table: &str, key: &str, rows: &[T]) -> Result<(), OpenError> {
        let columns: Vec<_> =
            T::names().into_iter().map(|name| format!("{name} = excluded.{name}")).collect();
        self.insert(table, rows, &format!("ON CONFLICT ({key}) DO UPDATE SET {}", columns.join(", ")))
    }

    /// Locks tables until the import ends. Limits the wait for the lock, because other sessions queue after this statement.
    pub(super) fn lock(&mut self, sql: &'static str) -> Result<(), OpenError> {
        self.execute(sqlx::query("SET LOCAL lock_timeout = '3s'"))?;
        self.execute(sqlx::query(sql))?;
        self.execute(sqlx::query("SET LOCAL lock_timeout = 0"))
    }
}

impl Target for Transaction {
    const BATCH: usize = 2000;
}

pub(super) fn column<'r, T, C>(rows: &'r [T], value: impl Fn(&'r T) -> C) -> Vec<C> {
    rows.iter().map(value).collect()
}
