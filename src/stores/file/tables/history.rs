//! The log of flood states, and gauges with their readings.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::SqliteConnection;

use super::super::error::FileError;
use super::column::Column;
use super::table::{Table, table};
use crate::model::{Actor, FloodBatch, FloodChange, Gauge, Mute, Observation, ObservedGauge};

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

/// Returns the gauges, ordered by identifier. Each has its readings, oldest first.
pub(in super::super) async fn gauges(from: &mut SqliteConnection) -> Result<Vec<ObservedGauge>, FileError> {
    let gauges = GAUGES.all(&mut *from).await?.into_iter().map(|gauge| {
        let id: Box<str> = gauge.id.as_str().into();
        (id, ObservedGauge::new(Arc::new(gauge), Vec::new()))
    });
    let mut gauges: BTreeMap<_, _> = gauges.collect();
    for (gauge, reading) in READINGS.all(from).await? {
        if let Some(gauge) = gauges.get_mut(&gauge) {
            gauge.observations.push(reading);
        }
    }
    Ok(gauges.into_values().collect())
}
