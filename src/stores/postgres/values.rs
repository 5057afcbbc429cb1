//! Converts between values of the model and of the database.

use chrono::{DateTime, TimeZone, Utc};
use sqlx::error::BoxDynError;

use super::error::backend;
use crate::model::Timestamp;
use crate::stores::StoreError;

/// Converts a time. Clamps times outside of the years that the model writes, such as the bounds of a period.
pub(super) fn moment(moment: Timestamp) -> DateTime<Utc> {
    let edge = |year| Utc.with_ymd_and_hms(year, 1, 1, 0, 0, 0).single().unwrap_or_default();
    moment.to_utc().clamp(edge(-4000), edge(12_000))
}

/// Converts a number. The numbers of the model fit in the signed 64 bits of a column.
pub(super) fn column(number: u64) -> i64 {
    number.cast_signed()
}

pub(super) fn number<T: TryFrom<u64, Error: Into<BoxDynError>>>(
    column: impl Into<i64>,
) -> Result<T, StoreError> {
    u64::try_from(column.into()).map_err(backend)?.try_into().map_err(backend)
}

pub(super) fn limit(most: u64) -> i64 {
    most.try_into().unwrap_or(i64::MAX)
}

pub(super) fn count(rows: Vec<(i64,)>) -> Result<u64, StoreError> {
    rows.first().map_or(Ok(0), |&(count,)| number(count))
}
