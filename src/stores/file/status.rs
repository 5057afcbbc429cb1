//! Reads the status of the file for its operator.

use sqlx::{Connection, SqliteConnection, query_as, query_scalar};

use super::error::FileError;
use super::schema;
use crate::model::Timestamp;
use crate::model::alerts::CONFIRMED_FOR;
use crate::stores::{Status, count_queries};

/// Counts the flooded areas: those whose newest entry has a state.
const FLOODED: &str = "
    SELECT count(*) FROM (SELECT state, max(changed_at) FROM flood_states GROUP BY area_id) WHERE state IS NOT NULL";

/// Counts the flooded areas whose state was confirmed recently enough for an alert.
const IN_FORCE: &str = "
    SELECT count(*) FROM (SELECT state, max(changed_at) AS since FROM flood_states GROUP BY area_id)
    WHERE state IS NOT NULL AND since > ?";
const KEYS: &str = "
    SELECT count(*) FROM (SELECT revoked_at FROM api_keys UNION ALL SELECT revoked_at FROM limited_api_keys)
    WHERE revoked_at IS NULL";
const HEARD: &str = "SELECT name, last_heard FROM sources";

/// The newest time of each kind of data. Excludes times in the future, which reports may have.
const NEWEST: [(&str, &str); 3] = [
    ("newest state", "SELECT max(changed_at) FROM flood_states WHERE changed_at <= ?"),
    ("newest report", "SELECT max(created_at) FROM reports WHERE created_at <= ?"),
    ("newest reading", "SELECT max(observed_at) FROM gauge_readings WHERE observed_at <= ?"),
];

pub(super) async fn read(connection: &mut SqliteConnection, now: Timestamp) -> Result<Status, FileError> {
    let mut snapshot = connection.begin().await?;
    let (found, needed) = (schema::count_applied(&mut snapshot).await?, schema::needed());
    let mut status = Status { schema: found, needed, ..Status::default() };
    if found >= needed {
        for (name, sql) in count_queries(FLOODED, "SELECT count(*) FROM flood_states", KEYS) {
            let count: i64 = query_scalar(sql).fetch_one(&mut *snapshot).await?;
            status.rows.push((name, count.cast_unsigned()));
        }
        let confirmed = now.saturating_sub(CONFIRMED_FOR).to_utc().timestamp_millis();
        let in_force: i64 = query_scalar(IN_FORCE).bind(confirmed).fetch_one(&mut *snapshot).await?;
        status.add_alerts(in_force.cast_unsigned());
        let heard: Vec<(String, i64)> = query_as(HEARD).fetch_all(&mut *snapshot).await?;
        let heard = heard.into_iter().filter_map(|(name, at)| Some((name, Timestamp::from_millis(at)?)));
        status.last_heard = heard.collect();
        for (name, sql) in NEWEST {
            let now = now.to_utc().timestamp_millis();
            let newest: Option<i64> = query_scalar(sql).bind(now).fetch_one(&mut *snapshot).await?;
            status.newest.push((name, newest.and_then(Timestamp::from_millis)));
        }
    }
    snapshot.rollback().await?;
    Ok(status)
}
