//! The log of flood states, and gauges with their readings.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::SqliteConnection;

use super::super::error::FileError;
use super::column::Column;
use super::table::{Table, table};
use crate::model::{Actor, FloodBatch, FloodChange, Gauge, Observation, ObservedGauge};

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
    Gauge { id: gaugeid, name: gaugenameid, region_code: instance_region_code, location: geom, settings }
);

pub(super) const READINGS: Table<(Box<str>, Observation)> = table!(
    "gauge_readings",
    replace,
    "ORDER BY gaugeid, observed_at",
    (gaugeid, Observation { observed_at, level, alert, label, reported, quality: (not_stored) })
);

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
        (id, ObservedGauge { gauge: Arc::new(gauge), observations: Vec::new() })
    });
    let mut gauges: BTreeMap<_, _> = gauges.collect();
    for (gauge, reading) in READINGS.all(from).await? {
        if let Some(gauge) = gauges.get_mut(&gauge) {
            gauge.observations.push(reading);
        }
    }
    Ok(gauges.into_values().collect())
}
