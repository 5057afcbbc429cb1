use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::csv_file;
use super::geojson_file::{self, Row};
use super::geometry::place;
use crate::datasets::DatasetError;
use crate::model::{AlertLevel, Gauge, Observation, ObservedGauge, Timestamp};

/// A row of the readings as it stands there.
#[derive(Deserialize)]
struct Reading {
    gaugeid: String,
    observed_at: String,
    level: String,
    alert: String,
    #[serde(default)]
    label: Option<String>,
}

impl csv_file::Row for Reading {
    const COLUMNS: &[&str] = &["gaugeid", "observed_at", "level", "alert"];
}

/// Reads the gauges and their readings; none when there is no such file.
pub(super) fn read(gauges: &Path, readings: &Path) -> Result<Vec<ObservedGauge>, DatasetError> {
    let mut known: BTreeMap<String, ObservedGauge> = BTreeMap::new();
    geojson_file::read(gauges, |row| {
        let gauge = gauge(row)?;
        let id = gauge.id.clone();
        let gauge = ObservedGauge { gauge: Arc::new(gauge), observations: Vec::new() };
        match known.insert(id.clone(), gauge) {
            Some(_) => Err(format!("gaugeid {id} occurs already")),
            None => Ok(()),
        }
    })?;
    csv_file::read(readings, |row: Reading| {
        let Some(gauge) = known.get_mut(&row.gaugeid) else {
            return Err(format!("gaugeid {:?} is not in gauges.geojson", row.gaugeid));
        };
        gauge.observations.push(observation(row)?);
        Ok(())
    })?;
    Ok(known.into_values().collect())
}

fn gauge(row: &Row) -> Result<Gauge, String> {
    let region_code = row.text("instance_region_code")?;
    Ok(Gauge {
        id: row.required("gaugeid")?,
        name: row.required("gaugenameid")?,
        region_code: Some(region_code).filter(|code| !code.is_empty()),
        location: place(row.geometry()?)?,
    })
}

fn observation(row: Reading) -> Result<Observation, String> {
    let observed_at = Timestamp::parse(&row.observed_at).map_err(|error| format!("observed_at {error}"))?;
    let level = row.level.parse::<f64>().ok().filter(|level| level.is_finite());
    let level = level.ok_or_else(|| format!("level must be a number, not {:?}", row.level))?;
    let alert = row.alert.parse::<u64>().ok().and_then(|number| AlertLevel::try_from(number).ok());
    let alert = alert.ok_or_else(|| format!("alert must be one of [1, 2, 3, 4], not {:?}", row.alert))?;
    let label = row.label.filter(|label| !label.is_empty());
    let label = label.as_deref().unwrap_or(alert.label()).into();
    Ok(Observation { observed_at, level, alert, label })
}
