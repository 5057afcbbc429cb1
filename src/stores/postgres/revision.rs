use chrono::{DateTime, Utc};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row, ValueRef};

use super::error::backend;
use crate::model::Timestamp;
use crate::stores::{Revision, StoreError, Versioned};

/// A row and the revision it was read at, from one statement and so from one snapshot. The first column is the revision. An empty
/// result has one row whose second column is null.
#[derive(Debug)]
pub(super) struct AtRevision<T> {
    revision: Revision,
    item: Option<T>,
}

impl<'r, T: FromRow<'r, PgRow>> FromRow<'r, PgRow> for AtRevision<T> {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        let is_empty = row.try_get_raw(1)?.is_null();
        Ok(Self {
            revision: revision(row.try_get(0)?),
            item: if is_empty { None } else { Some(T::from_row(row)?) },
        })
    }
}

/// A row of a result that changes with time. `next` is the time of the first later item, set even if the result is empty.
#[derive(Debug)]
pub(super) struct WithNext<T> {
    row: AtRevision<T>,
    next: Option<DateTime<Utc>>,
}

impl<'r, T: FromRow<'r, PgRow>> FromRow<'r, PgRow> for WithNext<T> {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self { row: AtRevision::from_row(row)?, next: row.try_get("next")? })
    }
}

pub(super) fn split_next<T>(rows: Vec<WithNext<T>>) -> (Vec<AtRevision<T>>, Option<Timestamp>) {
    let next = rows.first().and_then(|row| row.next).map(Timestamp::from);
    (rows.into_iter().map(|with_next| with_next.row).collect(), next)
}

pub(super) fn revision(column: i64) -> Revision {
    Revision(column.cast_unsigned())
}

pub(super) fn versioned<R, T>(
    rows: Vec<AtRevision<R>>,
    convert: impl Fn(R) -> Result<T, StoreError>,
) -> Result<Versioned<Vec<T>>, StoreError> {
    let first = rows.first().ok_or_else(|| backend("the table of revisions has been emptied"))?;
    let revision = first.revision;
    let value = rows.into_iter().filter_map(|row| row.item).map(convert).collect::<Result<_, _>>()?;
    Ok(Versioned::new(revision, value))
}
