use chrono::{DateTime, Utc};

use super::PostgresStore;
use super::values::moment;
use crate::model::Timestamp;
use crate::stores::{Overview, StoreError};

/// The newest time of each kind of data, looked up in indexes, and the number of areas in each flood state.
const OVERVIEW: &str = "
    SELECT (SELECT max(changed_at) FROM flood_changes),
           (SELECT max(created_at) FROM visible_reports WHERE created_at <= $1),
           (SELECT max(observed_at) FROM gauge_readings WHERE observed_at <= $1),
           array_agg(areas ORDER BY state)
    FROM (SELECT count(flood_states.state) AS areas, states.state
          FROM generate_series(1, 4) AS states (state) LEFT JOIN flood_states USING (state)
          GROUP BY states.state) AS flooded";

type Row = (Option<DateTime<Utc>>, Option<DateTime<Utc>>, Option<DateTime<Utc>>, Vec<i64>);

impl PostgresStore {
    pub(super) async fn read_overview(&self) -> Result<Overview, StoreError> {
        let now = self.clock.now();
        let rows: Vec<Row> = self.connections.read(sqlx::query_as(OVERVIEW).bind(moment(now))).await?;
        let (change, report, reading, areas) = rows.into_iter().next().unwrap_or_default();
        let mut flooded_areas = [0; 4];
        for (flooded, areas) in flooded_areas.iter_mut().zip(areas) {
            *flooded = areas.cast_unsigned();
        }
        Ok(Overview {
            newest_flood_change: change.map(Timestamp::from),
            newest_report: report.map(Timestamp::from),
            newest_reading: reading.map(Timestamp::from),
            flooded_areas,
        })
    }
}
