//! Reads what the file holds, for its operator.

use sqlx::{Connection, SqliteConnection, query_scalar};

use super::error::FileError;
use super::schema;
use crate::model::Timestamp;
use crate::stores::Status;

/// The current state of an area is its newest entry.
const FLOODED: &str = "
    SELECT count(*) FROM (SELECT state, max(changed_at) FROM flood_states GROUP BY area_id) WHERE state IS NOT NULL";

const ROWS: [(&str, &str); 14] = [
    ("areas", "SELECT count(*) FROM areas"),
    ("provinces", "SELECT count(*) FROM regions"),
    ("cities", "SELECT count(*) FROM cities"),
    ("infrastructure", "SELECT count(*) FROM infrastructure"),
    ("flooded areas", FLOODED),
    ("log entries", "SELECT count(*) FROM flood_states"),
    ("reports", "SELECT count(*) FROM reports"),
    ("hidden reports", "SELECT count(*) FROM reports WHERE hidden"),
    ("erased reports", "SELECT count(*) FROM erased_reports"),
    ("cards", "SELECT count(*) FROM cards"),
    ("images waiting", "SELECT count(*) FROM images WHERE state = 'received'"),
    ("gauges", "SELECT count(*) FROM gauges"),
    ("readings", "SELECT count(*) FROM gauge_readings"),
    ("keys", "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL"),
];

/// Dates in the future are left out: a report may have one.
const NEWEST: [(&str, &str); 3] = [
    ("newest state", "SELECT max(changed_at) FROM flood_states WHERE changed_at <= ?"),
    ("newest report", "SELECT max(created_at) FROM reports WHERE created_at <= ?"),
    ("newest reading", "SELECT max(observed_at) FROM gauge_readings WHERE observed_at <= ?"),
];

/// Reads the status, all of it at one moment.
pub(super) async fn read(connection: &mut SqliteConnection, now: Timestamp) -> Result<Status, FileError> {
    let mut snapshot = connection.begin().await?;
    let (found, needed) = (schema::found(&mut snapshot).await?, schema::needed());
    let mut status = Status { schema: found, needed, ..Status::default() };
    if found >= needed {
        for (name, sql) in ROWS {
            let count: i64 = query_scalar(sql).fetch_one(&mut *snapshot).await?;
            status.rows.push((name, count.cast_unsigned()));
        }
        for (name, sql) in NEWEST {
            let now = now.to_utc().timestamp_millis();
            let newest: Option<i64> = query_scalar(sql).bind(now).fetch_one(&mut *snapshot).await?;
            status.newest.push((name, newest.and_then(Timestamp::from_millis)));
        }
    }
    snapshot.rollback().await?;
    Ok(status)
}
