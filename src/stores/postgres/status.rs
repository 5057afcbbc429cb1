//! Reads the status of the database, for its operator.

use chrono::{DateTime, Utc};
use tokio::time;

use super::pool::PostgresPool;
use super::schema;
use super::values::moment;
use crate::model::Timestamp;
use crate::model::alerts::CONFIRMED_FOR;
use crate::stores::{OpenError, Status, StoreSettings, count_queries};

const KEYS: &str = "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL";
const FLOODED: &str = "SELECT count(*) FROM flood_states WHERE state IS NOT NULL";

/// Counts the flooded areas whose state was confirmed recently enough for an alert.
const IN_FORCE: &str = "SELECT count(*) FROM flood_states WHERE state IS NOT NULL AND changed_at > $1";
const LAST_HEARD: &str = "SELECT name, last_heard_at FROM sources";

/// The newest time of each kind of data. Excludes times in the future, which reports may have.
const NEWEST: &[(&str, &str)] = &[
    ("newest state", "SELECT max(changed_at) FROM flood_changes WHERE changed_at <= $1"),
    ("newest report", "SELECT max(created_at) FROM reports WHERE created_at <= $1"),
    ("newest reading", "SELECT max(observed_at) FROM gauge_readings WHERE observed_at <= $1"),
];

const NAME: &str = "siaga status";

pub(super) async fn read(pool: &PostgresPool, settings: &StoreSettings) -> Result<Status, OpenError> {
    let result = time::timeout(settings.timeout, pool.connect(NAME)).await;
    let mut connection = result.map_err(|_| "no connection in time")??;
    let mut status = Status {
        schema: schema::version(&mut connection).await?,
        needed: schema::needed(),
        ..Status::default()
    };
    if status.schema >= status.needed {
        sqlx::query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").execute(&mut connection).await?;
        for (name, sql) in count_queries(FLOODED, "SELECT count(*) FROM flood_changes", KEYS) {
            let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
            status.rows.push((name, count.cast_unsigned()));
        }
        let confirmed = moment(settings.clock.now().saturating_sub(CONFIRMED_FOR));
        let in_force: i64 = sqlx::query_scalar(IN_FORCE).bind(confirmed).fetch_one(&mut connection).await?;
        status.add_alerts(in_force.cast_unsigned());
        let last_heard: Vec<(String, DateTime<Utc>)> =
            sqlx::query_as(LAST_HEARD).fetch_all(&mut connection).await?;
        status.last_heard = last_heard.into_iter().map(|(name, at)| (name, Timestamp::from(at))).collect();
        for &(name, sql) in NEWEST {
            let now = moment(settings.clock.now());
            let newest: Option<DateTime<Utc>> =
                sqlx::query_scalar(sql).bind(now).fetch_one(&mut connection).await?;
            status.newest.push((name, newest.map(Timestamp::from)));
        }
        sqlx::query("COMMIT").execute(&mut connection).await?;
    }
    Ok(status)
}
