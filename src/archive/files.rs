use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use geo::Coord;
use ring::digest::{Context, SHA256};
use serde_json::Value;

use super::package::describe_file;
use crate::config::Archive as Settings;
use crate::formats::tables::{Collection, Column, FieldValue, Kind, TableSchema, begin_feature};
use crate::model::{AreaLayer, AreaOutline, AreaSet, GaugeLayer, Geometry, Layer, StateChange, Timestamp};

pub(super) const AREAS: &str = "areas.geojson";
pub(super) const REPORTS: &str = "reports.csv";
/// Report columns that the archive never publishes, because they contain the identifier of the card.
const PRIVATE_COLUMNS: [&str; 2] = ["url", "image_url"];
const TEXT_COLUMNS: [&str; 2] = ["title", "text"];
/// Length of a degree of latitude on a sphere with the Earth's mean radius.
const METRES_PER_DEGREE: f64 = 111_195.0;

/// Returns the size of a file in bytes, and its SHA-256 digest as in a data package. Flushes the file to the disk first.
pub(super) fn size_and_digest(path: &Path) -> io::Result<(u64, String)> {
    let (mut file, mut digest, mut size) = (File::open(path)?, Context::new(&SHA256), 0);
    file.sync_all()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((size, format!("sha256:{}", hex::encode(digest.finish()))));
        }
        digest.update(&buffer[..read]);
        size += read as u64;
    }
}

struct TableFile {
    path: PathBuf,
    columns: Vec<Column>,
    rows: u64,
    csv: csv::Writer<File>,
}

impl TableFile {
    fn create(path: PathBuf, columns: Vec<Column>) -> io::Result<Self> {
        let mut csv = csv::Writer::from_path(&path)?;
        csv.write_record(columns.iter().map(|column| &*column.name))?;
        Ok(Self { path, columns, rows: 0, csv })
    }

    fn add(&mut self, cells: &[FieldValue<'_>]) -> io::Result<()> {
        self.rows += 1;
        Ok(self.csv.write_record(cells.iter().map(FieldValue::to_string))?)
    }

    fn finish(mut self, name: &str) -> io::Result<Value> {
        self.csv.flush()?;
        describe_file(name, &self.path, self.rows, Some(&self.columns))
    }
}

/// A GeoJSON file that is being written: the areas, or the reports of a month.
struct FeatureFile {
    path: PathBuf,
    rows: u64,
    out: BufWriter<File>,
}

impl FeatureFile {
    fn create(path: PathBuf) -> io::Result<Self> {
        let mut out = BufWriter::new(File::create(&path)?);
        out.write_all(b"{\"type\":\"FeatureCollection\",\"features\":[")?;
        Ok(Self { path, rows: 0, out })
    }

    fn add(
        &mut self,
        id: u64,
        geometry: Geometry<'_>,
        columns: &[Column],
        cells: &[FieldValue<'_>],
    ) -> io::Result<()> {
        let mut text = if self.rows == 0 { b"\n".to_vec() } else { b",\n".to_vec() };
        begin_feature(id, geometry, columns, cells, &mut text)?;
        text.push(b'}');
        self.rows += 1;
        self.out.write_all(&text)
    }

    fn finish(mut self, name: &str) -> io::Result<Value> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        describe_file(name, &self.path, self.rows, None)
    }
}

/// Writes the areas. Returns the entry for this file in the data package.
pub(super) fn write_areas(folder: &Path, areas: &Arc<AreaSet>, tables: &TableSchema) -> io::Result<Value> {
    let mut file = FeatureFile::create(folder.join(AREAS))?;
    let outlines = (0..areas.len()).map(AreaOutline::Area).collect();
    let layer = Layer::Areas(AreaLayer::new(Arc::clone(areas), outlines));
    for (index, area) in areas.iter().enumerate() {
        if let Some(row) = tables.row(&layer, index) {
            file.add(area.id.number(), row.geometry, tables.columns(Collection::Areas), &row.cells)?;
        }
    }
    file.finish("areas")
}

pub(super) struct MonthFiles<'a> {
    tables: &'a TableSchema,
    /// Indexes of the report columns to publish.
    public: Vec<usize>,
    /// Grid step in degrees, to which the places of reports are rounded; zero disables rounding.
    step: f64,
    oldest: Option<Timestamp>,
    changes: TableFile,
    reports: TableFile,
    features: FeatureFile,
    readings: TableFile,
}

impl<'a> MonthFiles<'a> {
    pub(super) fn create(folder: &Path, tables: &'a TableSchema, settings: &Settings) -> io::Result<Self> {
        let columns = tables.columns(Collection::Reports);
        let is_public = |column: &Column| {
            let name = &*column.name;
            !PRIVATE_COLUMNS.contains(&name) && (settings.text || !TEXT_COLUMNS.contains(&name))
        };
        let public: Vec<_> = (0..columns.len()).filter(|index| is_public(&columns[*index])).collect();
        let reports = public.iter().map(|index| columns[*index].clone()).chain(place_columns()).collect();
        let changes = [
            ("area_id", Kind::Integer, "The local area: area_id in areas.geojson."),
            (
                "changed_at",
                Kind::Moment,
                "When the state was set or cleared. The first rows are the states in effect when the month begins.",
            ),
            ("state", Kind::Integer, "The flood state from 1 to 4; empty if it was cleared."),
        ];
        let gauges = tables.columns(Collection::Gauges).iter().cloned().chain(place_columns()).collect();
        Ok(Self {
            tables,
            public,
            step: f64::from(settings.coarse) / METRES_PER_DEGREE,
            oldest: None,
            changes: TableFile::create(folder.join("flood_changes.csv"), changes.map(column).into())?,
            reports: TableFile::create(folder.join(REPORTS), reports)?,
            features: FeatureFile::create(folder.join("reports.geojson"))?,
            readings: TableFile::create(folder.join("gauge_readings.csv"), gauges)?,
        })
    }

    pub(super) fn add_changes(&mut self, changes: &[(u64, StateChange)]) -> io::Result<()> {
        for (area, change) in changes {
            let state =
                change.state.map_or(FieldValue::None, |state| FieldValue::integer(state.code().into()));
            self.changes.add(&[FieldValue::integer(*area), FieldValue::Moment(change.at), state])?;
        }
        Ok(())
    }

    /// Adds the reports and gauge readings of one day. Records the time of the oldest report.
    pub(super) fn add_day(&mut self, reports: &Layer, gauges: &GaugeLayer) -> io::Result<()> {
        if let Layer::Reports(layer) = reports {
            for (index, report) in layer.reports.iter().enumerate() {
                let Some(row) = self.tables.row(reports, index) else { continue };
                let made_at = report.content.created_at;
                self.oldest = Some(self.oldest.map_or(made_at, |oldest| oldest.min(made_at)));
                let mut cells: Vec<_> = self.public.iter().map(|column| row.cells[*column].clone()).collect();
                let at = rounded(report.content.location.coord(), self.step);
                self.features.add(report.key.number(), Geometry::Point(at), &self.reports.columns, &cells)?;
                cells.extend([FieldValue::Number(at.x), FieldValue::Number(at.y)]);
                self.reports.add(&cells)?;
            }
        }
        for entry in &gauges.0 {
            let at = entry.gauge.location.coord();
            let thresholds =
                entry.gauge.settings.thresholds.map(|thresholds| thresholds.levels()).unwrap_or_default();
            let levels = thresholds.map(|level| level.map_or(FieldValue::None, FieldValue::Number));
            for observation in &entry.observations {
                self.readings.add(&[
                    FieldValue::text(&entry.gauge.id),
                    FieldValue::some_text(&entry.gauge.name),
                    FieldValue::Moment(observation.observed_at),
                    FieldValue::Number(observation.level),
                    FieldValue::integer(observation.alert.number().into()),
                    FieldValue::some_text(&observation.label),
                    FieldValue::integer(observation.quality.flag().into()),
                    levels[0].clone(),
                    levels[1].clone(),
                    levels[2].clone(),
                    FieldValue::Number(at.x),
                    FieldValue::Number(at.y),
                ])?;
            }
        }
        Ok(())
    }

    /// Completes the files. Returns their entries in the data package, and the time of the oldest report.
    pub(super) fn finish(self) -> io::Result<(Vec<Value>, Option<Timestamp>)> {
        let Self { changes, reports, features, readings, oldest, .. } = self;
        let descriptions = vec![
            changes.finish("flood_changes")?,
            reports.finish("reports")?,
            features.finish("report_features")?,
            readings.finish("gauge_readings")?,
        ];
        Ok((descriptions, oldest))
    }
}

fn column((name, kind, description): (&'static str, Kind, &'static str)) -> Column {
    Column { name: name.into(), kind, description: description.into() }
}

fn place_columns() -> [Column; 2] {
    [
        column(("longitude", Kind::Number, "The longitude in degrees (WGS 84).")),
        column(("latitude", Kind::Number, "The latitude in degrees (WGS 84).")),
    ]
}

fn rounded(at: Coord<f64>, step: f64) -> Coord<f64> {
    if step == 0.0 {
        return at;
    }
    // Six decimals of a degree are about a tenth of a metre.
    let round = |degrees: f64| ((degrees / step).round() * step * 1e6).round() / 1e6;
    Coord { x: round(at.x), y: round(at.y) }
}
