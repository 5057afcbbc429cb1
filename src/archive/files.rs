use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use geo::Coord;
use ring::digest::{Context, Digest, SHA256};

use super::Resource;
use crate::collections::{Cell, Collection, Column, Kind, Tables, begin_feature};
use crate::config::Archive as Settings;
use crate::model::{AreaLayer, AreaOutline, AreaSet, GaugeLayer, Geometry, Layer, StateChange, Timestamp};

/// Columns of reports that are never in the archive, since they have the identifier of the card.
const PRIVATE: [&str; 2] = ["url", "image_url"];
/// Columns of reports that may name people.
const WORDS: [&str; 2] = ["title", "text"];
/// The length of a degree of latitude on a sphere of the Earth's mean radius.
const METRES_A_DEGREE: f64 = 111_195.0;

/// Returns a digest as data packages write it.
pub(super) fn digest(bytes: &[u8]) -> String {
    written(ring::digest::digest(&SHA256, bytes))
}

fn written(digest: Digest) -> String {
    format!("sha256:{}", hex::encode(digest))
}

/// A file whose size and digest are known once it is written.
struct Measured {
    out: BufWriter<File>,
    digest: Context,
    bytes: u64,
}

impl Measured {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { out: BufWriter::new(File::create(path)?), digest: Context::new(&SHA256), bytes: 0 })
    }

    fn finish(self) -> io::Result<(u64, String)> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok((self.bytes, written(self.digest.finish())))
    }
}

impl Write for Measured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A CSV file with the rows of a table.
struct TableFile {
    name: &'static str,
    columns: Vec<Column>,
    rows: u64,
    csv: csv::Writer<Measured>,
}

impl TableFile {
    fn create(folder: &Path, name: &'static str, columns: Vec<Column>) -> io::Result<Self> {
        let mut csv = csv::Writer::from_writer(Measured::create(&folder.join(format!("{name}.csv")))?);
        csv.write_record(columns.iter().map(|column| &*column.name))?;
        Ok(Self { name, columns, rows: 0, csv })
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.rows += 1;
        Ok(self.csv.write_record(cells.iter().map(Cell::to_string))?)
    }

    fn finish(self) -> io::Result<Resource> {
        let measured = self.csv.into_inner().map_err(|error| io::Error::other(error.error().to_string()))?;
        let (bytes, hash) = measured.finish()?;
        Ok(Resource::new(
            self.name,
            &format!("{}.csv", self.name),
            bytes,
            hash,
            self.rows,
            Some(&self.columns),
        ))
    }
}

/// A GeoJSON file with features.
struct FeatureFile {
    name: &'static str,
    path: &'static str,
    rows: u64,
    out: Measured,
}

impl FeatureFile {
    fn create(folder: &Path, name: &'static str, path: &'static str) -> io::Result<Self> {
        let mut out = Measured::create(&folder.join(path))?;
        out.write_all(b"{\"type\":\"FeatureCollection\",\"features\":[")?;
        Ok(Self { name, path, rows: 0, out })
    }

    fn feature(
        &mut self,
        id: u64,
        geometry: Geometry<'_>,
        columns: &[Column],
        cells: &[Cell<'_>],
    ) -> io::Result<()> {
        let mut text = if self.rows == 0 { b"\n".to_vec() } else { b",\n".to_vec() };
        begin_feature(id, geometry, columns, cells, &mut text)?;
        text.push(b'}');
        self.rows += 1;
        self.out.write_all(&text)
    }

    fn finish(mut self) -> io::Result<Resource> {
        self.out.write_all(b"\n]}\n")?;
        let (bytes, hash) = self.out.finish()?;
        Ok(Resource::new(self.name, self.path, bytes, hash, self.rows, None))
    }
}

/// The file with the areas.
pub(super) struct AreaFile;

impl AreaFile {
    /// Writes the file. The old one stays until the new one is complete.
    pub(super) fn write(folder: &Path, areas: &Arc<AreaSet>, tables: &Tables) -> io::Result<Resource> {
        const PATH: &str = "areas.geojson";
        const PART: &str = ".areas.geojson.part";
        let mut file = FeatureFile::create(folder, "areas", PART)?;
        let outlines = (0..areas.len()).map(AreaOutline::Area).collect();
        let layer = Layer::Areas(AreaLayer::new(Arc::clone(areas), outlines));
        let columns = tables.columns(Collection::Areas);
        for (index, area) in areas.iter().enumerate() {
            if let Some(row) = tables.row(&layer, index) {
                file.feature(area.id.number(), row.geometry, columns, &row.cells)?;
            }
        }
        file.path = PATH;
        let resource = file.finish()?;
        fs::rename(folder.join(PART), folder.join(PATH))?;
        Ok(resource)
    }
}

/// The files of a month while they are written.
pub(super) struct MonthFiles {
    tables: Arc<Tables>,
    /// The columns of reports that are public, by their index.
    public: Vec<usize>,
    /// The step to which places are rounded, in degrees; zero for none.
    step: f64,
    oldest: Option<Timestamp>,
    changes: TableFile,
    reports: TableFile,
    features: FeatureFile,
    readings: TableFile,
}

impl MonthFiles {
    /// Begins the files in a new folder, which takes the place of one that was not finished.
    pub(super) fn create(folder: &PathBuf, tables: Arc<Tables>, settings: &Settings) -> io::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let all = tables.columns(Collection::Reports);
        let is_public = |column: &Column| {
            let name = &*column.name;
            !PRIVATE.contains(&name) && (settings.text || !WORDS.contains(&name))
        };
        let public: Vec<_> = (0..all.len()).filter(|index| is_public(&all[*index])).collect();
        let mut reports: Vec<_> = public.iter().map(|index| all[*index].clone()).collect();
        reports.extend(place());
        let changes = [
            ("area_id", Kind::Integer, "The local area: area_id in areas.geojson."),
            (
                "changed_at",
                Kind::Moment,
                "When the state was set or cleared. The first rows are the states in effect when the month begins.",
            ),
            ("state", Kind::Integer, "The flood state from 1 to 4; empty if it was cleared."),
        ];
        let gauges = tables.columns(Collection::Gauges).iter().cloned().chain(place()).collect();
        Ok(Self {
            public,
            step: f64::from(settings.coarse) / METRES_A_DEGREE,
            oldest: None,
            changes: TableFile::create(folder, "flood_changes", changes.map(column).into())?,
            reports: TableFile::create(folder, "reports", reports)?,
            features: FeatureFile::create(folder, "report_features", "reports.geojson")?,
            readings: TableFile::create(folder, "gauge_readings", gauges)?,
            tables,
        })
    }

    /// Writes changes of areas.
    pub(super) fn with_changes(mut self, changes: &[(u64, StateChange)]) -> io::Result<Self> {
        for (area, change) in changes {
            let state = change.state.map_or(Cell::None, |state| Cell::integer(state.code().into()));
            self.changes.row(&[Cell::integer(*area), Cell::Moment(change.at), state])?;
        }
        Ok(self)
    }

    /// Writes the reports and the readings of a day.
    pub(super) fn with_day(mut self, reports: &Layer, gauges: &GaugeLayer) -> io::Result<Self> {
        if let Layer::Reports(layer) = reports {
            let first = layer.reports.iter().map(|report| report.content.created_at).min();
            self.oldest = self.oldest.into_iter().chain(first).min();
            let columns = self.reports.columns.clone();
            for (index, report) in layer.reports.iter().enumerate() {
                let Some(row) = self.tables.row(reports, index) else { continue };
                let mut cells: Vec<_> = self.public.iter().map(|column| row.cells[*column].clone()).collect();
                let at = rounded(report.content.location.coord(), self.step);
                self.features.feature(
                    report.key.number(),
                    Geometry::Point(at),
                    &columns[..cells.len()],
                    &cells,
                )?;
                cells.extend([Cell::Number(at.x), Cell::Number(at.y)]);
                self.reports.row(&cells)?;
            }
        }
        for of in &gauges.0 {
            let at = of.gauge.location.coord();
            for observation in &of.observations {
                self.readings.row(&[
                    Cell::text(&of.gauge.id),
                    Cell::some_text(&of.gauge.name),
                    Cell::Moment(observation.observed_at),
                    Cell::Number(observation.level),
                    Cell::integer(observation.alert.number().into()),
                    Cell::some_text(&observation.label),
                    Cell::Number(at.x),
                    Cell::Number(at.y),
                ])?;
            }
        }
        Ok(self)
    }

    /// Ends the files, and returns their descriptions, and when the oldest report was made.
    pub(super) fn finish(self) -> io::Result<(Vec<Resource>, Option<Timestamp>)> {
        let Self { changes, reports, features, readings, oldest, .. } = self;
        Ok((vec![changes.finish()?, reports.finish()?, features.finish()?, readings.finish()?], oldest))
    }
}

fn column((name, kind, says): (&'static str, Kind, &'static str)) -> Column {
    Column { name: name.into(), kind, says: says.into() }
}

fn place() -> [Column; 2] {
    [
        column(("longitude", Kind::Number, "The longitude in degrees (WGS 84).")),
        column(("latitude", Kind::Number, "The latitude in degrees (WGS 84).")),
    ]
}

/// Returns the nearest place of a grid with this step.
fn rounded(at: Coord<f64>, step: f64) -> Coord<f64> {
    if step == 0.0 {
        return at;
    }
    // Six digits are a tenth of a metre.
    let round = |degrees: f64| ((degrees / step).round() * step * 1e6).round() / 1e6;
    Coord { x: round(at.x), y: round(at.y) }
}
