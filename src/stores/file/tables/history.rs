//! The log of flood states, and gauges with their readings.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::TryStreamExt;
use sqlx::{Sqlite, SqliteConnection};

use super::super::error::FileError;
use super::places::{area_id, blob, place};
use super::{column, moment};
use crate::model::{Actor, AlertLevel, FloodChange, FloodState, Gauge, Geometry, Observation, ObservedGauge};

const PUT_STATE: &str = "
    INSERT OR REPLACE INTO flood_states (area_id, changed_at, state, username, subject) VALUES (?, ?, ?, ?, ?)";
const STATES: &str = "SELECT area_id, changed_at, state, username, subject FROM flood_states";

const PUT_GAUGE: &str = "
    INSERT INTO gauges (gaugeid, gaugenameid, instance_region_code, geom) VALUES (?, ?, ?, ?)
    ON CONFLICT (gaugeid) DO UPDATE SET
        gaugenameid = excluded.gaugenameid, instance_region_code = excluded.instance_region_code,
        geom = excluded.geom";
const GAUGES: &str = "SELECT gaugeid, gaugenameid, instance_region_code, geom FROM gauges";
const PUT_READING: &str = "
    INSERT OR REPLACE INTO gauge_readings (gaugeid, observed_at, level, alert, label) VALUES (?, ?, ?, ?, ?)";
const READINGS: &str = "
    SELECT gaugeid, observed_at, level, alert, label FROM gauge_readings ORDER BY gaugeid, observed_at";

type StateRow = (i64, i64, Option<i64>, Option<String>, String);
type GaugeRow = (String, String, Option<String>, Vec<u8>);
type ReadingRow = (String, i64, f64, i64, String);

pub(super) async fn put_flood_state(
    to: &mut SqliteConnection,
    change: &FloodChange,
) -> Result<(), FileError> {
    let query = sqlx::query(PUT_STATE)
        .bind(change.area.number().cast_signed())
        .bind(column(change.at))
        .bind(change.state.map(|state| i64::from(state.code())))
        .bind(change.by.username.as_deref())
        .bind(&change.by.subject);
    query.execute(to).await?;
    Ok(())
}

/// Returns the log, oldest first.
pub(in super::super) async fn flood_log(from: &mut SqliteConnection) -> Result<Vec<FloodChange>, FileError> {
    const TABLE: &str = "flood_states";
    let mut log = Vec::new();
    let mut rows = sqlx::query_as::<Sqlite, StateRow>(STATES).fetch(from);
    while let Some((area, at, state, username, subject)) = rows.try_next().await? {
        let state = state.map(|code| FloodState::try_from(code.cast_unsigned()));
        log.push(FloodChange {
            area: area_id(TABLE, area)?,
            state: state.transpose().map_err(FileError::row(TABLE))?,
            at: moment(at),
            by: Actor { subject, username },
        });
    }
    log.sort_by_key(|change| (change.at, change.area));
    Ok(log)
}

pub(super) async fn put_gauge(to: &mut SqliteConnection, gauge: &Gauge) -> Result<(), FileError> {
    let query = sqlx::query(PUT_GAUGE)
        .bind(&gauge.id)
        .bind(&gauge.name)
        .bind(gauge.region_code.as_deref())
        .bind(blob("gauges", Geometry::Point(gauge.location.coord()))?);
    query.execute(to).await?;
    Ok(())
}

pub(super) async fn put_reading(
    to: &mut SqliteConnection,
    gauge: &str,
    reading: &Observation,
) -> Result<(), FileError> {
    let query = sqlx::query(PUT_READING)
        .bind(gauge)
        .bind(column(reading.observed_at))
        .bind(reading.level)
        .bind(i64::from(reading.alert.number()))
        .bind(&*reading.label);
    query.execute(to).await?;
    Ok(())
}

/// Returns the gauges by identifier, each with its readings, oldest first.
pub(in super::super) async fn gauges(from: &mut SqliteConnection) -> Result<Vec<ObservedGauge>, FileError> {
    const TABLE: &str = "gauge_readings";
    let mut gauges: BTreeMap<String, ObservedGauge> = BTreeMap::new();
    let mut rows = sqlx::query_as::<Sqlite, GaugeRow>(GAUGES).fetch(&mut *from);
    while let Some((id, name, region_code, geom)) = rows.try_next().await? {
        let gauge = Gauge { id: id.clone(), name, region_code, location: place("gauges", &geom)? };
        gauges.insert(id, ObservedGauge { gauge: Arc::new(gauge), observations: Vec::new() });
    }
    drop(rows);
    let mut rows = sqlx::query_as::<Sqlite, ReadingRow>(READINGS).fetch(from);
    while let Some((id, at, level, alert, label)) = rows.try_next().await? {
        let alert = AlertLevel::try_from(alert.cast_unsigned()).map_err(FileError::row(TABLE))?;
        if let Some(gauge) = gauges.get_mut(&id) {
            let observed_at = moment(at);
            gauge.observations.push(Observation { observed_at, level, alert, label: label.into() });
        }
    }
    Ok(gauges.into_values().collect())
}
