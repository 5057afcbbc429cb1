//! Gauges and their readings.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use siaga::folder::{CsvWriter, FolderFile, GeoJsonWriter};
use siaga::model::{AlertLevel, Gauge, GaugeSettings, NAME, Observation, Quality, is_name};

use super::source::{CopyError, Source, Table, TableRow};
use super::values::moment;

/// For each gauge, its newest row with a place, or else its newest row.
const GAUGES: Table = Table {
    name: "floodgauge.reports",
    sql: "SELECT DISTINCT ON (gaugeid) row_to_json(t)::text, ST_AsBinary(ST_Force2D(the_geom), 'NDR'),
                 'gaugeid ' || gaugeid
          FROM floodgauge.reports t ORDER BY gaugeid, the_geom IS NULL, measuredatetime DESC, pkey DESC",
};

/// The readings. If two readings of a gauge have the same time, the later row wins.
const READINGS: Table = Table {
    name: "floodgauge.reports",
    sql: "SELECT row_to_json(t)::text, NULL::bytea, 'pkey ' || pkey
          FROM floodgauge.reports t ORDER BY gaugeid, measuredatetime, pkey",
};

#[derive(Deserialize)]
struct GaugeRow {
    gaugeid: String,
    gaugenameid: Option<String>,
    tags: Option<Value>,
}

#[derive(Deserialize)]
struct Reading {
    gaugeid: String,
    measuredatetime: Option<String>,
    depth: Option<f64>,
    warninglevel: Option<i64>,
    warningnameid: Option<String>,
}

pub(super) async fn gauges(
    source: &mut Source,
    gauges: &mut GeoJsonWriter<Gauge>,
) -> Result<HashSet<String>, CopyError> {
    let mut ids = HashSet::new();
    let copy_row = |columns: GaugeRow, row: &mut TableRow<'_>| {
        let id = name("gaugeid", Some(columns.gaugeid))?.ok_or("gaugeid is empty")?;
        let gauge = Gauge {
            name: name("gaugenameid", columns.gaugenameid)?.unwrap_or_else(|| id.clone()),
            region_code: row.tags(columns.tags.as_ref()).instance_region_code.map(String::from),
            location: row.shape.place()?,
            settings: GaugeSettings::default(),
            mute: None,
            id,
        };
        gauges.write(&gauge)?;
        ids.insert(gauge.id);
        row.copied.count_row(FolderFile::Gauges);
        Ok(())
    };
    source.each(GAUGES, copy_row).await?;
    Ok(ids)
}

pub(super) async fn readings(
    source: &mut Source,
    readings: &mut CsvWriter<Observation>,
    known: &HashSet<String>,
) -> Result<(), CopyError> {
    let copy_row = |columns: Reading, row: &mut TableRow<'_>| {
        if !known.contains(&columns.gaugeid) {
            return Err("gaugeid is none of the gauges copied".into());
        }
        let alert = columns.warninglevel.and_then(|level| u64::try_from(level).ok());
        let alert = alert.and_then(|level| AlertLevel::try_from(level).ok());
        let alert = alert.ok_or("warninglevel must be one of [1, 2, 3, 4]")?;
        let observation = Observation {
            observed_at: moment("measuredatetime", columns.measuredatetime.as_deref())?,
            level: columns.depth.ok_or("depth is empty")?,
            alert,
            label: name("warningnameid", columns.warningnameid)?.as_deref().unwrap_or(alert.label()).into(),
            reported: None,
            quality: Quality::default(),
        };
        readings.write(&columns.gaugeid, &observation)?;
        row.copied.count_row(FolderFile::GaugeReadings);
        Ok(())
    };
    source.each(READINGS, copy_row).await
}

/// Parses a name; `None` if it is null or empty.
fn name(column: &str, name: Option<String>) -> Result<Option<String>, String> {
    match name.filter(|name| !name.is_empty()) {
        Some(text) if !is_name(&text) => Err(format!("{column} must be {NAME}")),
        name => Ok(name),
    }
}
