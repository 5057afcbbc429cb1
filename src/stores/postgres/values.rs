//! Converts the model's values to the database's, and back.

use chrono::{DateTime, TimeZone, Utc};

use super::error::backend;
use crate::model::{AreaId, FloodState, Position, ReportKey, Tags, Timestamp, district_id};
use crate::stores::StoreError;

/// Returns a moment for the database. Moments beyond the years that the model writes, such as the bounds of a period,
/// are set to the nearest limit.
pub(super) fn moment(moment: Timestamp) -> DateTime<Utc> {
    let edge = |year| Utc.with_ymd_and_hms(year, 1, 1, 0, 0, 0).single().unwrap_or_default();
    moment.to_utc().clamp(edge(-4000), edge(12_000))
}

/// Returns a number of the model as a column. None is beyond the signed 64 bits of a column.
pub(super) fn column(number: u64) -> i64 {
    number.cast_signed()
}

/// Returns the number in a column.
fn number(column: i64) -> Result<u64, StoreError> {
    u64::try_from(column).map_err(backend)
}

/// Returns a number of rows for `LIMIT`.
pub(super) fn limit(most: u64) -> i64 {
    most.try_into().unwrap_or(i64::MAX)
}

/// Returns the result of `SELECT count(*)`.
pub(super) fn count(rows: Vec<(i64,)>) -> Result<u64, StoreError> {
    rows.first().map_or(Ok(0), |&(count,)| number(count))
}

pub(super) fn area_id(column: i64) -> Result<AreaId, StoreError> {
    number(column)?.try_into().map_err(backend)
}

pub(super) fn report_key(column: i64) -> Result<ReportKey, StoreError> {
    number(column)?.try_into().map_err(backend)
}

pub(super) fn flood_state(column: i16) -> Result<FloodState, StoreError> {
    number(column.into())?.try_into().map_err(backend)
}

/// Returns tags from columns; `district` is the attribute of the local area, as JSON.
pub(super) fn tags(
    region_code: Option<String>,
    area: Option<i64>,
    district: Option<&str>,
    city: Option<String>,
) -> Result<Tags, StoreError> {
    Ok(Tags {
        instance_region_code: region_code.map(Box::from),
        local_area_id: area.map(area_id).transpose()?,
        district_id: district.and_then(district_id),
        city: city.map(Box::from),
    })
}

/// Returns a position from its longitude and latitude.
pub(super) fn position((lng, lat): (f64, f64)) -> Result<Position, StoreError> {
    Position::new(lng, lat).ok_or_else(|| backend(format!("the place {lng} {lat} is off the globe")))
}
