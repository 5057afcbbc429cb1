use futures::TryStreamExt;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Sqlite, SqliteConnection};

use super::super::error::FileError;
use super::column::{Added, Fields};

pub(in super::super) struct Table<T> {
    pub(super) name: &'static str,
    /// The statement that writes a row. Its parameters are the columns, in the order of `select`.
    pub(super) put: &'static str,
    pub(super) select: &'static str,
    pub(super) write: fn(&T, &mut SqliteArguments) -> Added,
    pub(super) read: fn(&mut Fields<'_>) -> Result<T, FileError>,
}

impl<T> Table<T> {
    pub(super) async fn put(&self, to: &mut SqliteConnection, value: &T) -> Result<(), FileError> {
        let mut columns = SqliteArguments::default();
        (self.write)(value, &mut columns).map_err(|error| FileError::row(self.name)(&*error))?;
        sqlx::query_with(self.put, columns).execute(to).await?;
        Ok(())
    }

    pub(in super::super) async fn all(&self, from: &mut SqliteConnection) -> Result<Vec<T>, FileError> {
        self.read_all(sqlx::query(self.select), from).await
    }

    /// Reads the rows of a query that selects the columns of the table in their order.
    pub(super) async fn read_all(
        &self,
        query: Query<'_, Sqlite, SqliteArguments>,
        from: &mut SqliteConnection,
    ) -> Result<Vec<T>, FileError> {
        let mut values = Vec::new();
        let mut rows = query.fetch(from);
        while let Some(row) = rows.try_next().await? {
            values.push((self.read)(&mut Fields::new(self.name, &row))?);
        }
        Ok(values)
    }
}

/// Defines a [`Table`] from its name, how its rows are written, the end of its `SELECT`, and a pattern for its values.
///
/// A name that the pattern binds is a column: `pkey` and `card_id` in `Card { pkey, id: card_id, … }`. The macro uses the pattern
/// to take values apart and to construct them, so each column appears once. The type of a field defines the conversion
/// ([`Column`](super::column::Column)). A name in parentheses is not a column: its field gets the default value.
///
/// Rows are written by `replace`, which removes rows with the same unique columns; by `update key`, which keeps columns that are
/// not in the pattern; or by `add`. `Table` and `Column` must be in scope.
macro_rules! table {
    ($table:literal, $how:ident $($key:ident)?, $rest:literal, $($shape:tt)+) => {
        table!(
            @columns [$table, [$how $($key)?], $rest, {$($shape)+}] [] [] $($shape)+
        )
    };

    (@columns $table:tt $columns:tt $others:tt , $($rest:tt)*) => {
        table!(@columns $table $columns $others $($rest)*)
    };
    (@columns $table:tt $columns:tt [$($others:tt)*] $field:ident: ($other:ident) $($rest:tt)*) => {
        table!(@columns $table $columns [$($others)* $other] $($rest)*)
    };
    (@columns $table:tt $columns:tt $others:tt $field:ident: $($rest:tt)*) => {
        table!(@columns $table $columns $others $($rest)*)
    };
    (@columns $table:tt $columns:tt $others:tt $($model:ident)? {$($fields:tt)*} $($rest:tt)*) => {
        table!(@columns $table $columns $others $($fields)* $($rest)*)
    };
    (@columns $table:tt $columns:tt $others:tt ($($fields:tt)*) $($rest:tt)*) => {
        table!(@columns $table $columns $others $($fields)* $($rest)*)
    };
    (@columns $table:tt [$($columns:ident)*] $others:tt $column:ident $($rest:tt)*) => {
        table!(@columns $table [$($columns)* $column] $others $($rest)*)
    };
    (
        @columns [$table:literal, $how:tt, $rest:literal, {$($shape:tt)+}]
        [$first:ident $($column:ident)*] [$($other:ident)*]
    ) => {
        Table {
            name: $table,
            put: table!(@put $how $table $first $($column)*),
            select: concat!(
                "SELECT ", table!(@name $first), $(", ", table!(@name $column),)* " FROM ", $table, " ", $rest
            ),
            write: |value, row| {
                #[allow(unused_parens)]
                let $($shape)+ = value;
                $(let _ = $other;)*
                Column::put($first, row)?;
                $(Column::put($column, row)?;)*
                Ok(())
            },
            read: |row| {
                let $first = Column::get(row)?;
                $(let $column = Column::get(row)?;)*
                $(let $other = Default::default();)*
                Ok($($shape)+)
            },
        }
    };

    (@put [add] $($columns:tt)+) => {
        table!(@insert "INSERT INTO " $($columns)+)
    };
    (@put [replace] $($columns:tt)+) => {
        table!(@insert "INSERT OR REPLACE INTO " $($columns)+)
    };
    (@put [update $key:ident] $table:literal $first:ident $($column:ident)*) => {
        concat!(
            table!(@insert "INSERT INTO " $table $first $($column)*),
            " ON CONFLICT (", table!(@name $key), ") DO UPDATE SET ",
            table!(@name $first), " = excluded.", table!(@name $first),
            $(", ", table!(@name $column), " = excluded.", table!(@name $column),)*
        )
    };
    (@insert $insert:literal $table:literal $first:ident $($column:ident)*) => {
        concat!(
            $insert, $table, " (", table!(@name $first), $(", ", table!(@name $column),)* ") VALUES (?",
            $(table!(@parameter $column),)* ")"
        )
    };
    (@parameter $column:ident) => {
        ", ?"
    };
    (@name r#type) => {
        "type"
    };
    (@name $column:ident) => {
        stringify!($column)
    };
}

pub(super) use table;
