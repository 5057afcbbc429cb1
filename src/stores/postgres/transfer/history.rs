use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::super::gauges::observation;
use super::super::values::{area_id, flood_state, moment, position};
use super::transaction::{LOCK_STATES, Transaction, column};
use crate::data::folder::FolderFile;
use crate::model::{Actor, AreaId, FloodChange, Gauge, Timestamp};
use crate::stores::import::{GaugeReading, HistoryTarget, RecordStore, RowVisitor};
use crate::stores::{OpenError, StoreError};

const GAUGES_OF: &str = "
    SELECT gaugeid, gaugenameid, instance_region_code, ST_X(location), ST_Y(location)
    FROM gauges WHERE gaugeid = ANY ($1)";
const GAUGE_IDS: &str = "SELECT gaugeid FROM gauges";
const PUT_GAUGES: &str = "
    INSERT INTO gauges (gaugeid, gaugenameid, instance_region_code, location)
    SELECT gaugeid, gaugenameid, instance_region_code, ST_SetSRID(ST_MakePoint(lng, lat), 4326)
    FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::float8[])
        AS rows (gaugeid, gaugenameid, instance_region_code, lng, lat)
    ON CONFLICT (gaugeid) DO UPDATE SET
        gaugenameid = excluded.gaugenameid, instance_region_code = excluded.instance_region_code,
        location = excluded.location";

const READINGS_OF: &str = "
    SELECT gaugeid, observed_at, level, alert, label
    FROM unnest($1::text[], $2::timestamptz[]) AS rows (gaugeid, observed_at) CROSS JOIN LATERAL (
        SELECT level, alert, label FROM gauge_readings known
        WHERE (known.gaugeid, known.observed_at) = (rows.gaugeid, rows.observed_at) LIMIT 1
    ) known";
const PUT_READINGS: &str = "
    INSERT INTO gauge_readings (gaugeid, observed_at, level, alert, label)
    SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::float8[], $4::smallint[], $5::text[])
    ON CONFLICT (gaugeid, observed_at) DO UPDATE SET
        level = excluded.level, alert = excluded.alert, label = excluded.label";

const CHANGES_OF: &str = "
    SELECT area_id, changed_at, state, subject, username
    FROM unnest($1::bigint[], $2::timestamptz[]) AS rows (area_id, changed_at) CROSS JOIN LATERAL (
        SELECT state, subject, username FROM flood_changes known
        WHERE (known.area_id, known.changed_at) = (rows.area_id, rows.changed_at) LIMIT 1
    ) known";
const PUT_CHANGES: &str = "
    INSERT INTO flood_changes (area_id, changed_at, state, subject, username, run_began_at, confirmed_at)
    SELECT area_id, changed_at, state, subject, username, changed_at, changed_at
    FROM unnest($1::bigint[], $2::timestamptz[], $3::smallint[], $4::text[], $5::text[])
        AS rows (area_id, changed_at, state, subject, username)
    ON CONFLICT (area_id, changed_at) DO UPDATE SET
        state = excluded.state, subject = excluded.subject, username = excluded.username,
        confirmed_at = excluded.confirmed_at";

/// When the newest change of each area was made.
const NEWEST: &str = "
    SELECT areas.area_id, newest.changed_at
    FROM areas CROSS JOIN LATERAL (
        SELECT changed_at FROM flood_changes
        WHERE flood_changes.area_id = areas.area_id ORDER BY changed_at DESC LIMIT 1
    ) newest";

/// Brings the times of areas up to date with their logs, whose new entries can be older than those that were there.
const TIMES: &str = "
    UPDATE flood_changes SET run_began_at = times.run_began_at, since = times.since
    FROM flood_times times
    WHERE times.area_id = ANY ($1) AND flood_changes.area_id = ANY ($1)
      AND (times.area_id, times.changed_at) = (flood_changes.area_id, flood_changes.changed_at)
      AND (times.run_began_at, times.since) IS DISTINCT FROM (flood_changes.run_began_at, flood_changes.since)";

/// The areas whose states were set since a moment.
const SET_SINCE: &str = "
    SELECT DISTINCT area_id FROM flood_changes WHERE changed_at >= $1 AND area_id = ANY ($2)";

/// How far the clocks of servers may be apart.
const SKEW: Duration = Duration::from_mins(10);

/// The newest change of an area is its state. A change made during the import is newer still, and stays.
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

pub(super) type GaugeRow = (String, String, Option<String>, f64, f64);
pub(super) type ReadingRow = (String, DateTime<Utc>, f64, i16, String);
pub(super) type ChangeRow = (i64, DateTime<Utc>, Option<i16>, String, Option<String>);

pub(super) fn gauge((id, name, region_code, lng, lat): GaugeRow) -> Result<Gauge, StoreError> {
    Ok(Gauge { id, name, region_code, location: position((lng, lat))? })
}

pub(super) fn reading((gauge, at, level, alert, label): ReadingRow) -> Result<GaugeReading, StoreError> {
    Ok((gauge, observation(at, level, alert, label)?))
}

pub(super) fn change((area, at, state, subject, username): ChangeRow) -> Result<FloodChange, StoreError> {
    let state = state.map(flood_state).transpose()?;
    let (at, by) = (at.into(), Actor { subject, username });
    Ok(FloodChange { area: area_id(area)?, state, at, received: at, by })
}

impl RecordStore<Gauge> for Transaction {
    fn find(&mut self, _: FolderFile, ids: &[String], each: RowVisitor<'_, Gauge>) -> Result<(), OpenError> {
        self.each(sqlx::query_as(GAUGES_OF).bind(ids), gauge, each)
    }

    fn put(&mut self, _: FolderFile, rows: Vec<Gauge>) -> Result<(), OpenError> {
        self.execute(
            sqlx::query(PUT_GAUGES)
                .bind(column(&rows, |gauge| gauge.id.as_str()))
                .bind(column(&rows, |gauge| gauge.name.as_str()))
                .bind(column(&rows, |gauge| gauge.region_code.as_deref()))
                .bind(column(&rows, |gauge| gauge.location.coord().x))
                .bind(column(&rows, |gauge| gauge.location.coord().y)),
        )
    }
}

impl RecordStore<GaugeReading> for Transaction {
    fn find(
        &mut self,
        _: FolderFile,
        keys: &[(String, Timestamp)],
        each: RowVisitor<'_, GaugeReading>,
    ) -> Result<(), OpenError> {
        let asked = sqlx::query_as(READINGS_OF)
            .bind(column(keys, |(gauge, _)| gauge.as_str()))
            .bind(column(keys, |(_, at)| moment(*at)));
        self.each(asked, reading, each)
    }

    fn put(&mut self, _: FolderFile, rows: Vec<GaugeReading>) -> Result<(), OpenError> {
        self.execute(
            sqlx::query(PUT_READINGS)
                .bind(column(&rows, |(gauge, _)| gauge.as_str()))
                .bind(column(&rows, |(_, reading)| moment(reading.observed_at)))
                .bind(column(&rows, |(_, reading)| reading.level))
                .bind(column(&rows, |(_, reading)| i16::from(reading.alert.number())))
                .bind(column(&rows, |(_, reading)| &*reading.label)),
        )
    }
}

impl RecordStore<FloodChange> for Transaction {
    fn find(
        &mut self,
        _: FolderFile,
        keys: &[(AreaId, Timestamp)],
        each: RowVisitor<'_, FloodChange>,
    ) -> Result<(), OpenError> {
        let asked = sqlx::query_as(CHANGES_OF)
            .bind(column(keys, |(area, _)| area.number().cast_signed()))
            .bind(column(keys, |(_, at)| moment(*at)));
        self.each(asked, change, each)
    }

    fn put(&mut self, _: FolderFile, rows: Vec<FloodChange>) -> Result<(), OpenError> {
        let areas = column(&rows, |change| change.area.number().cast_signed());
        self.logged.extend(&areas);
        self.execute(
            sqlx::query(PUT_CHANGES)
                .bind(areas)
                .bind(column(&rows, |change| moment(change.at)))
                .bind(column(&rows, |change| change.state.map(|state| i16::from(state.code()))))
                .bind(column(&rows, |change| change.by.subject.as_str()))
                .bind(column(&rows, |change| change.by.username.as_deref())),
        )
    }
}

impl HistoryTarget for Transaction {
    fn gauge_ids(&mut self) -> Result<HashSet<String>, OpenError> {
        let ids: Vec<(String,)> = self.rows(sqlx::query_as(GAUGE_IDS))?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    fn newest_changes(&mut self) -> Result<HashMap<AreaId, Timestamp>, OpenError> {
        let newest: Vec<(i64, DateTime<Utc>)> = self.rows(sqlx::query_as(NEWEST))?;
        newest.into_iter().map(|(area, at)| Ok((area_id(area)?, at.into()))).collect()
    }

    fn complete_log(&mut self) -> Result<(), OpenError> {
        let areas: Vec<_> = self.logged.iter().copied().collect();
        if areas.is_empty() { Ok(()) } else { self.execute(sqlx::query(TIMES).bind(areas)) }
    }
}

/// Brings the current states up to date with the log, and the times of states that were set while the import went on. No
/// other session sets a state from here on, because it would not see the imported entries.
pub(super) fn standing_states(import: &mut Transaction) -> Result<(), OpenError> {
    let imported: Vec<_> = import.logged.iter().copied().collect();
    if !imported.is_empty() {
        import.lock(LOCK_STATES)?;
        let since = moment(import.now.before(SKEW));
        let set: Vec<(i64,)> = import.rows(sqlx::query_as(SET_SINCE).bind(since).bind(imported))?;
        import.execute(sqlx::query(TIMES).bind(column(&set, |(area,)| *area)))?;
    }
    import.execute(sqlx::query(STATES))
}
