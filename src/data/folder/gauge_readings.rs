use super::csv_file::{self, record};
use super::notes::FutureRows;
use super::{CsvWriter, Folder, FolderFile, FolderRow, FolderWriter, WriteError};
use crate::data::folder::DatasetError;
use crate::model::{AlertLevel, Observation, Quality, ReportedAlert, without_zero_fraction};

record!(Reading { gaugeid, observed_at, level, alert; label, reported_alert, reported_label });

impl Folder {
    /// Reads the readings with the identifiers of their gauges. Fails if a gauge is not `known`. If several readings of a gauge
    /// have the same time, the last one counts.
    pub fn gauge_readings<E: From<DatasetError>>(
        &self,
        known: &dyn Fn(&str) -> bool,
        each: impl FnMut(FolderRow<(String, Observation)>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut future = FutureRows::new(self.now);
        let make = |row: Reading, line| {
            // Looks up the identifier as written, and without a fraction of zeros.
            let spellings = [row.gaugeid.as_str(), without_zero_fraction(&row.gaugeid)];
            let gauge = spellings.into_iter().find(|id| known(id)).map(str::to_owned);
            let gauge = gauge.ok_or_else(|| format!("gaugeid {:?} is no known gauge", row.gaugeid))?;
            let reading = reading(row)?;
            future.count(line, reading.observed_at);
            Ok((gauge, reading))
        };
        csv_file::read(self, FolderFile::GaugeReadings, make, each)?;
        self.note_future(FolderFile::GaugeReadings, future);
        Ok(())
    }
}

fn reading(row: Reading) -> Result<Observation, String> {
    let Reading { gaugeid: _, observed_at, level, alert, label, reported_alert, reported_label } = row;
    let observed_at = csv_file::moment("observed_at", &observed_at)?;
    let (level, alert) = (level.trim(), alert.trim());
    let number = level.parse::<f64>().ok().filter(|level| level.is_finite());
    let number =
        number.ok_or_else(|| format!("level must be a number with a decimal point, not {level:?}"))?;
    let alarm = alert_level("alert", alert)?;
    // If the label is missing, uses the default label of the alert level.
    let label = csv_file::name("label", label)?;
    let label = label.as_deref().unwrap_or(alarm.label()).into();
    let reported = match (reported_alert.as_deref(), csv_file::name("reported_label", reported_label)?) {
        (None | Some(""), _) => None,
        (Some(alert), label) => {
            let alert = alert_level("reported_alert", alert.trim())?;
            let label = label.as_deref().unwrap_or(alert.label()).into();
            Some(ReportedAlert { alert: alert.number(), label })
        }
    };
    Ok(Observation { observed_at, level: number, alert: alarm, label, reported, quality: Quality::default() })
}

fn alert_level(column: &str, text: &str) -> Result<AlertLevel, String> {
    let number = without_zero_fraction(text).parse::<u64>().ok();
    let level = number.and_then(|number| AlertLevel::try_from(number).ok());
    level.ok_or_else(|| format!("{column} must be one of [1, 2, 3, 4], not {text:?}"))
}

impl FolderWriter {
    /// Starts writing `gauge_readings.csv`.
    pub fn gauge_readings(&self) -> Result<CsvWriter<Observation>, WriteError> {
        self.rows::<_, Reading>(FolderFile::GaugeReadings)
    }
}

impl CsvWriter<Observation> {
    /// Writes the next reading of a gauge.
    pub fn write(&mut self, gaugeid: &str, reading: &Observation) -> Result<(), WriteError> {
        let Observation { observed_at, level, alert, label, reported, .. } = reading;
        // The text of `to_string` parses to exactly the same number.
        let (alert, level) = (alert.number().to_string(), level.to_string());
        let (number, name) = reported
            .as_ref()
            .map_or_else(Default::default, |reported| (reported.alert.to_string(), &*reported.label));
        self.record(&[gaugeid, &observed_at.to_string(), &level, &alert, label, &number, name])
    }
}
