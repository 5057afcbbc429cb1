use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::super::rows::{ReadingRow, recordset};
use super::super::values::{moment, number};
use super::transaction::{LOCK_STATES, Transaction, column};
use crate::data::folder::FolderFile;
use crate::model::{AreaId, FloodChange, Gauge, Timestamp};
use crate::stores::OpenError;
use crate::stores::import::{GaugeReading, HistoryTarget, RecordStore, RowVisitor};

const GAUGES_OF: &str = "
    SELECT gaugeid, gaugenameid, instance_region_code, ST_AsBinary(location, 'NDR') AS location,
           settings::text AS settings, mute::text AS mute
    FROM gauges WHERE gaugeid = ANY ($1)";
const GAUGE_IDS: &str = "SELECT gaugeid FROM gauges";
const READINGS_OF: &str = "
    SELECT gaugeid, observed_at, level, alert, label, reported::text AS reported
    FROM unnest($1::text[], $2::timestamptz[]) AS rows (gaugeid, observed_at) CROSS JOIN LATERAL (
        SELECT level, alert, label, reported FROM gauge_readings known
        WHERE (known.gaugeid, known.observed_at) = (rows.gaugeid, rows.observed_at) LIMIT 1
    ) known";
const CHANGES_OF: &str = "
    SELECT area_id, changed_at, changed_at AS received_at, state, subject, username
    FROM unnest($1::bigint[], $2::timestamptz[]) AS rows (area_id, changed_at) CROSS JOIN LATERAL (
        SELECT state, subject, username FROM flood_changes known
        WHERE (known.area_id, known.changed_at) = (rows.area_id, rows.changed_at) LIMIT 1
    ) known";
const PUT_CHANGES: &str = "
    INSERT INTO flood_changes (area_id, changed_at, state, subject, username, run_began_at, confirmed_at)
    SELECT area_id, changed_at, state, subject, username, changed_at, changed_at
    FROM json_populate_recordset(NULL::flood_changes, $1::json)
    ON CONFLICT (area_id, changed_at) DO UPDATE SET
        state = excluded.state, subject = excluded.subject, username = excluded.username,
        confirmed_at = excluded.confirmed_at";

const NEWEST: &str = "
    SELECT areas.area_id, newest.changed_at
    FROM areas CROSS JOIN LATERAL (
        SELECT changed_at FROM flood_changes
        WHERE flood_changes.area_id = areas.area_id ORDER BY changed_at DESC LIMIT 1
    ) newest";

/// Recomputes the derived times in the logs of some areas, because imported entries can be older than existing ones.
const TIMES: &str = "
    UPDATE flood_changes SET run_began_at = times.run_began_at, since = times.since
    FROM flood_times times
    WHERE times.area_id = ANY ($1) AND flood_changes.area_id = ANY ($1)
      AND (times.area_id, times.changed_at) = (flood_changes.area_id, flood_changes.changed_at)
      AND (times.run_began_at, times.since) IS DISTINCT FROM (flood_changes.run_began_at, flood_changes.since)";

const SET_SINCE: &str = "
    SELECT DISTINCT area_id FROM flood_changes WHERE changed_at >= $1 AND area_id = ANY ($2)";

/// Largest expected clock difference between servers.
const SKEW: Duration = Duration::from_mins(10);

/// Sets each area's state from its newest change. A state that was set later, during the import, stays.
const STATES: &str = "
    INSERT INTO flood_states AS standing (area_id, state, changed_at)
    SELECT areas.area_id, newest.state, newest.changed_at
    FROM areas CROSS JOIN LATERAL (
        SELECT state, changed_at FROM flood_changes
        WHERE flood_changes.area_id = areas.area_id ORDER BY changed_at DESC LIMIT 1
    ) newest LEFT JOIN flood_states known USING (area_id)
    WHERE (newest.state, newest.changed_at) IS DISTINCT FROM (known.state, known.changed_at)
    ORDER BY areas.area_id
    ON CONFLICT (area_id) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at
    WHERE excluded.changed_at > standing.changed_at
       OR excluded.changed_at = standing.changed_at AND excluded.state IS DISTINCT FROM standing.state";

impl RecordStore<Gauge> for Transaction {
    fn find(&mut self, _: FolderFile, ids: &[String], each: RowVisitor<'_, Gauge>) -> Result<(), OpenError> {
        self.for_each_row(sqlx::query_as(GAUGES_OF).bind(ids), each)
    }

    fn put(&mut self, _: FolderFile, rows: Vec<Gauge>) -> Result<(), OpenError> {
        self.upsert("gauges", "gaugeid", &rows)
    }
}

impl RecordStore<GaugeReading> for Transaction {
    fn find(
        &mut self,
        _: FolderFile,
        keys: &[(String, Timestamp)],
        each: RowVisitor<'_, GaugeReading>,
    ) -> Result<(), OpenError> {
        let statement = sqlx::query_as(READINGS_OF)
            .bind(column(keys, |(gauge, _)| gauge.as_str()))
            .bind(column(keys, |(_, at)| moment(*at)));
        self.for_each_row(statement, &mut |ReadingRow(reading)| each(reading))
    }

    fn put(&mut self, _: FolderFile, rows: Vec<GaugeReading>) -> Result<(), OpenError> {
        self.upsert("gauge_readings", "gaugeid, observed_at", &rows)
    }
}

impl RecordStore<FloodChange> for Transaction {
    fn find(
        &mut self,
        _: FolderFile,
        keys: &[(AreaId, Timestamp)],
        each: RowVisitor<'_, FloodChange>,
    ) -> Result<(), OpenError> {
        let statement = sqlx::query_as(CHANGES_OF)
            .bind(column(keys, |(area, _)| area.number().cast_signed()))
            .bind(column(keys, |(_, at)| moment(*at)));
        self.for_each_row(statement, each)
    }

    fn put(&mut self, _: FolderFile, rows: Vec<FloodChange>) -> Result<(), OpenError> {
        self.changed_areas.extend(rows.iter().map(|change| change.area.number().cast_signed()));
        self.execute(sqlx::query(PUT_CHANGES).bind(recordset(&rows)?))
    }
}

impl HistoryTarget for Transaction {
    fn gauge_ids(&mut self) -> Result<HashSet<String>, OpenError> {
        let ids: Vec<(String,)> = self.rows(sqlx::query_as(GAUGE_IDS))?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    fn newest_changes(&mut self) -> Result<HashMap<AreaId, Timestamp>, OpenError> {
        let newest: Vec<(i64, DateTime<Utc>)> = self.rows(sqlx::query_as(NEWEST))?;
        newest.into_iter().map(|(area, at)| Ok((number(area)?, at.into()))).collect()
    }

    fn complete_log(&mut self) -> Result<(), OpenError> {
        let areas: Vec<_> = self.changed_areas.iter().copied().collect();
        if areas.is_empty() { Ok(()) } else { self.execute(sqlx::query(TIMES).bind(areas)) }
    }
}

/// Updates the states, and the derived times of states that were set during the import. Locks the states, because other sessions
/// do not see the imported entries yet.
pub(super) fn update_states(import: &mut Transaction) -> Result<(), OpenError> {
    let imported: Vec<_> = import.changed_areas.iter().copied().collect();
    if !imported.is_empty() {
        import.lock(LOCK_STATES)?;
        let since = moment(import.now.saturating_sub(SKEW));
        let set: Vec<(i64,)> = import.rows(sqlx::query_as(SET_SINCE).bind(since).bind(imported))?;
        import.execute(sqlx::query(TIMES).bind(column(&set, |(area,)| *area)))?;
    }
    import.execute(sqlx::query(STATES))
}
