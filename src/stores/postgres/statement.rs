use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::QueryAs;
use sqlx::{Execute, FromRow, Postgres, SqlStr};

use super::error::backend;
use crate::stores::StoreError;

pub(super) type Query<T> = QueryAs<'static, Postgres, T, PgArguments>;

pub(super) trait Row: for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T: for<'r> FromRow<'r, PgRow> + Send + Unpin> Row for T {}

/// A statement with its values. Can run any number of times, for retries.
pub(super) struct Statement {
    sql: SqlStr,
    values: PgArguments,
}

impl Statement {
    pub(super) fn new<T: Row>(mut query: Query<T>) -> Result<Self, StoreError> {
        let values = query.take_arguments().map_err(backend)?.unwrap_or_default();
        Ok(Self { sql: query.sql(), values })
    }

    pub(super) fn query<T: Row>(&self) -> Query<T> {
        sqlx::query_as_with(self.sql.clone(), self.values.clone())
    }
}
