use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::csv_file;
use super::geojson_file::{self, Row};
use super::geometry::place;
use crate::datasets::DatasetError;
use crate::model::{AlertLevel, Gauge, Locator, Observation, ObservedGauge, Timestamp};

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

/// Reads the gauges and their readings, oldest first; none when there is no such file. Of readings of one time the last
/// counts.
pub(super) fn read(
    gauges: &Path,
    readings: &Path,
    locator: &Locator,
) -> Result<Vec<ObservedGauge>, DatasetError> {
    let mut known: BTreeMap<String, (Gauge, BTreeMap<Timestamp, Observation>)> = BTreeMap::new();
    geojson_file::read(gauges, |row| {
        let gauge = gauge(row, locator)?;
        let id = gauge.id.clone();
        match known.insert(id.clone(), (gauge, BTreeMap::new())) {
            Some(_) => Err(format!("gaugeid {id} occurs already")),
            None => Ok(()),
        }
    })?;
    csv_file::read(readings, |row: Reading| {
        let Some((_, observations)) = known.get_mut(&row.gaugeid) else {
            return Err(format!("gaugeid {:?} is not in gauges.geojson", row.gaugeid));
        };
        let observation = observation(row)?;
        observations.insert(observation.observed_at, observation);
        Ok(())
    })?;
    let observed = known.into_values().map(|(gauge, observations)| ObservedGauge {
        gauge: Arc::new(gauge),
        observations: observations.into_values().collect(),
    });
    Ok(observed.collect())
}

fn gauge(row: &Row, locator: &Locator) -> Result<Gauge, String> {
    let location = place(row.geometry()?)?;
    let region_code = match row.text("instance_region_code")? {
        code if code.is_empty() => locator.locate(location).instance_region_code.map(String::from),
        code => Some(code),
    };
    Ok(Gauge { id: row.required("gaugeid")?, name: row.required("gaugenameid")?, region_code, location })
}

fn observation(row: Reading) -> Result<Observation, String> {
    let observed_at = Timestamp::parse(&row.observed_at).map_err(|error| format!("observed_at {error}"))?;
    let level = row.level.parse::<f64>().ok().filter(|level| level.is_finite());
    let level = level.ok_or_else(|| format!("level must be a number, not {:?}", row.level))?;
    let alert = row.alert.parse::<u64>().ok().and_then(|number| AlertLevel::try_from(number).ok());
    let alert = alert.ok_or_else(|| format!("alert must be one of [1, 2, 3, 4], not {:?}", row.alert))?;
    let label = csv_file::name("label", row.label)?;
    let label = label.as_deref().unwrap_or(alert.label()).into();
    Ok(Observation { observed_at, level, alert, label })
}
