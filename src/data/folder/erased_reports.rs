use super::csv_file::{self, record};
use super::unique::Unique;
use super::{CsvWriter, Folder, FolderFile, FolderRow, FolderRules, FolderWriter, WriteError};
use crate::data::folder::DatasetError;
use crate::model::{ErasedReport, Tags};

record!(Line {
    pkey,
    created_at,
    source,
    disaster_type,
    is_training,
    instance_region_code,
    city,
    hidden,
    digest
});

impl Folder {
    /// Reads the records of erased reports. Fails on duplicate keys.
    pub fn erased_reports<E: From<DatasetError>>(
        &self,
        each: impl FnMut(FolderRow<ErasedReport>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut keys = Unique::new("pkey");
        let make = |row, line| {
            let erased = erased(row, &self.rules)?;
            keys.add(erased.key, line)?;
            Ok(erased)
        };
        csv_file::read(self, FolderFile::ErasedReports, make, each)
    }
}

fn erased(row: Line, rules: &FolderRules) -> Result<ErasedReport, String> {
    let filled = |text: String| Some(text).filter(|text| !text.is_empty()).map(Box::from);
    Ok(ErasedReport {
        key: csv_file::parse("pkey", &row.pkey)?,
        created_at: csv_file::moment("created_at", &row.created_at)?,
        source: csv_file::text("source", row.source)?.into(),
        disaster_type: rules.disaster(row.disaster_type.trim())?,
        is_training: truth("is_training", &row.is_training)?,
        tags: Tags {
            instance_region_code: filled(csv_file::text("instance_region_code", row.instance_region_code)?),
            local_area_id: None,
            district_id: None,
            city: filled(csv_file::text("city", row.city)?),
        },
        hidden: truth("hidden", &row.hidden)?,
        digest: csv_file::parse("digest", &row.digest)?,
    })
}

fn truth(column: &str, text: &str) -> Result<bool, String> {
    text.trim().parse().map_err(|_| format!("{column} must be true or false"))
}

impl FolderWriter {
    /// Starts writing `erased_reports.csv`.
    pub fn erased_reports(&self) -> Result<CsvWriter<ErasedReport>, WriteError> {
        self.rows::<_, Line>(FolderFile::ErasedReports)
    }
}

impl CsvWriter<ErasedReport> {
    /// Writes the next erased report.
    pub fn write(&mut self, erased: &ErasedReport) -> Result<(), WriteError> {
        self.record(&[
            &erased.key.to_string(),
            &erased.created_at.to_string(),
            &erased.source,
            erased.disaster_type.name(),
            &erased.is_training.to_string(),
            erased.tags.instance_region_code.as_deref().unwrap_or_default(),
            erased.tags.city.as_deref().unwrap_or_default(),
            &erased.hidden.to_string(),
            &erased.digest.to_string(),
        ])
    }
}
