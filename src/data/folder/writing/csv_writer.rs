use std::io;
use std::marker::PhantomData;

use super::WriteError;
use super::part_file::PartFile;

/// Writes a CSV file (RFC 4180, but with line feeds as line breaks).
#[derive(Debug)]
pub struct CsvWriter<T> {
    csv: csv::Writer<PartFile>,
    of: PhantomData<fn(&T)>,
}

impl<T> CsvWriter<T> {
    pub(super) fn begin(file: PartFile, columns: &[&str]) -> Result<Self, WriteError> {
        let mut writer = Self { csv: csv::Writer::from_writer(file), of: PhantomData };
        writer.record(columns)?;
        Ok(writer)
    }

    pub(in crate::data::folder) fn record(&mut self, fields: &[&str]) -> Result<(), WriteError> {
        let written = self.csv.write_record(fields).map_err(io::Error::from);
        written.map_err(|source| self.csv.get_ref().unwritable(source))
    }

    /// Completes the file and renames it to its final name.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.csv.flush().map_err(|source| self.csv.get_ref().unwritable(source))?;
        let file = self.csv.into_inner().map_err(|error| {
            let source = io::Error::other(error.error().to_string());
            error.into_inner().get_ref().unwritable(source)
        })?;
        file.finish()
    }
}
