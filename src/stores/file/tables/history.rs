//! The log of flood states, and gauges with their readings.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::SqliteConnection;

use super::super::error::FileError;
use super::column::Column;
use super::table::{Table, table};
use crate::model::{
    Actor, AreaSelector, FloodBatch, FloodChange, Gauge, Mute, Observation, ObservedGauge, Timestamp,
};
use crate::stores::gauges::LEAST_RECENT;

pub(super) const FLOOD_STATES: Table<FloodChange> = table!(
    "flood_states",
    replace,
    "",
    FloodChange {
        area: area_id,
        at: changed_at,
        received: received_at,
        state,
        by: Actor { subject, username }
    }
);

/// The batches, oldest first.
pub(in super::super) const FLOOD_BATCHES: Table<FloodBatch> = table!(
    "flood_batches",
    replace,
    "ORDER BY number",
    FloodBatch { number, at: changed_at, by: Actor { subject, username }, note, undoes, request, changes }
);

pub(super) const GAUGES: Table<Gauge> = table!(
    "gauges", update gaugeid, "",
    Gauge { id: gaugeid, name: gaugenameid, region_code: instance_region_code, location: geom, settings, mute }
);

pub(super) const READINGS: Table<(Box<str>, Observation)> = table!(
    "gauge_readings",
    replace,
    "ORDER BY gaugeid, observed_at",
    (gaugeid, Observation { observed_at, level, alert, label, reported, quality: (not_stored) })
);

pub(super) async fn erase_readings(
    to: &mut SqliteConnection,
    gauges: &[String],
    before: Timestamp,
) -> Result<(), FileError> {
    for gauge in gauges {
        // The primary key finds them.
        let delete = sqlx::query("DELETE FROM gauge_readings WHERE gaugeid = ? AND observed_at < ?");
        delete.bind(gauge).bind(millis(before)).execute(&mut *to).await?;
    }
    Ok(())
}

pub(super) async fn put_gauge_log(
    to: &mut SqliteConnection,
    gauge: &str,
    log: &[Mute],
) -> Result<(), FileError> {
    let json = serde_json::to_string(log).map_err(FileError::row("gauges"))?;
    let update = sqlx::query("UPDATE gauges SET log = ? WHERE gaugeid = ?").bind(json).bind(gauge);
    update.execute(to).await?;
    Ok(())
}

pub(in super::super) async fn gauge_logs(
    from: &mut SqliteConnection,
) -> Result<Vec<(String, Vec<Mute>)>, FileError> {
    let select = sqlx::query_as("SELECT gaugeid, log FROM gauges WHERE log IS NOT NULL");
    let rows: Vec<(String, String)> = select.fetch_all(from).await?;
    let log = |(gauge, json): (String, String)| Ok((gauge, serde_json::from_str(&json)?));
    rows.into_iter().map(log).collect::<Result<_, serde_json::Error>>().map_err(FileError::row("gauges"))
}

/// Returns the log of flood states, oldest first.
pub(in super::super) async fn flood_log(from: &mut SqliteConnection) -> Result<Vec<FloodChange>, FileError> {
    let mut log = FLOOD_STATES.all(from).await?;
    log.sort_by_key(|change| (change.at, change.area));
    Ok(log)
}

/// The readings since a time, and the newest [`LEAST_RECENT`] of each gauge.
const HELD: &str = "
    SELECT gauge_readings.gaugeid, observed_at, level, alert, label, reported
    FROM (
        SELECT gaugeid, min(?1, coalesce((
            SELECT observed_at FROM gauge_readings WHERE gauge_readings.gaugeid = gauges.gaugeid
            ORDER BY observed_at DESC LIMIT 1 OFFSET ?2 - 1
        ), -9223372036854775808)) AS since
        FROM gauges
    ) held CROSS JOIN gauge_readings ON gauge_readings.gaugeid = held.gaugeid AND observed_at >= since
    ORDER BY gauge_readings.gaugeid, observed_at";

/// The readings of a period, for each gauge by the primary key.
const BETWEEN: &str = "
    SELECT gauge_readings.gaugeid, observed_at, level, alert, label, reported
    FROM gauges CROSS JOIN gauge_readings USING (gaugeid)
    WHERE observed_at BETWEEN ?1 AND ?2
      AND (?3 IS NULL OR instance_region_code = ?3) AND (?4 IS NULL OR instance_region_code = ?4)
    ORDER BY gauge_readings.gaugeid, observed_at";

const COUNT: &str = "
    SELECT count(*) FROM (
        SELECT 1 FROM gauges CROSS JOIN gauge_readings USING (gaugeid)
        WHERE observed_at BETWEEN ?1 AND ?2
          AND (?3 IS NULL OR instance_region_code = ?3) AND (?4 IS NULL OR instance_region_code = ?4)
        LIMIT ?5
    )";

/// Returns the gauges like [`gauges`], with the readings that a running store holds in memory.
pub(in super::super) async fn held_gauges(
    from: &mut SqliteConnection,
    since: Timestamp,
) -> Result<Vec<ObservedGauge>, FileError> {
    let query = sqlx::query(HELD).bind(millis(since)).bind(LEAST_RECENT as i64);
    let readings = READINGS.read_all(query, &mut *from).await?;
    Ok(join(GAUGES.all(from).await?, readings))
}

/// Returns the readings of a period with the identifiers of their gauges, oldest first for each gauge.
pub(in super::super) async fn readings_between(
    from: &mut SqliteConnection,
    [first, last]: [Timestamp; 2],
    AreaSelector { city, region }: &AreaSelector,
) -> Result<Vec<(Box<str>, Observation)>, FileError> {
    let query = sqlx::query(BETWEEN).bind(millis(first)).bind(millis(last));
    READINGS.read_all(query.bind(city.clone()).bind(region.clone()), from).await
}

/// Returns the number of readings of a period, but at most `most`.
pub(in super::super) async fn count_readings(
    from: &mut SqliteConnection,
    [first, last]: [Timestamp; 2],
    AreaSelector { city, region }: &AreaSelector,
    most: u64,
) -> Result<u64, FileError> {
    let query = sqlx::query_scalar(COUNT).bind(millis(first)).bind(millis(last)).bind(city.clone());
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let count: i64 = query.bind(region.clone()).bind(most).fetch_one(from).await?;
    Ok(count.cast_unsigned())
}

fn millis(at: Timestamp) -> i64 {
    at.to_utc().timestamp_millis()
}

/// Returns the gauges, ordered by identifier. Each has its readings, oldest first.
pub(in super::super) async fn gauges(from: &mut SqliteConnection) -> Result<Vec<ObservedGauge>, FileError> {
    let readings = READINGS.all(&mut *from).await?;
    Ok(join(GAUGES.all(from).await?, readings))
}

fn join(gauges: Vec<Gauge>, readings: Vec<(Box<str>, Observation)>) -> Vec<ObservedGauge> {
    let gauges = gauges.into_iter().map(|gauge| {
        let id: Box<str> = gauge.id.as_str().into();
        (id, ObservedGauge::new(Arc::new(gauge), Vec::new()))
    });
    let mut gauges: BTreeMap<_, _> = gauges.collect();
    for (gauge, reading) in readings {
        if let Some(gauge) = gauges.get_mut(&gauge) {
            gauge.observations.push(reading);
        }
    }
    gauges.into_values().collect()
}
