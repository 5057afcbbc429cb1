use std::io::{Read, Write};

use super::csv_file::{self, Record, record};
use super::{CsvWriter, Folder, FolderFile, FolderRow, FolderWriter, WriteError};
use crate::data::folder::DatasetError;
use crate::model::{Actor, ModerationEntry};

record!(Line { at, action, report, made_at, subject, username, reason });

impl Folder {
    /// Reads the moderation log, oldest first, and numbers its entries from 1.
    pub fn moderation_log<E: From<DatasetError>>(
        &self,
        each: impl FnMut(FolderRow<ModerationEntry>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut number = 0;
        let make = |row, _| {
            number += 1;
            entry(row, number)
        };
        csv_file::read(self, FolderFile::ModerationLog, make, each)
    }
}

fn entry(row: Line, number: u64) -> Result<ModerationEntry, String> {
    Ok(ModerationEntry {
        number,
        at: csv_file::moment("at", &row.at)?,
        report: csv_file::parse("report", &row.report)?,
        made_at: csv_file::moment("made_at", &row.made_at)?,
        action: csv_file::parse("action", &row.action)?,
        by: Actor {
            subject: csv_file::text("subject", row.subject)?,
            username: csv_file::name("username", Some(row.username))?,
        },
        reason: csv_file::text("reason", row.reason)?,
    })
}

fn fields(entry: &ModerationEntry) -> [String; 7] {
    [
        entry.at.to_string(),
        entry.action.to_string(),
        entry.report.to_string(),
        entry.made_at.to_string(),
        entry.by.subject.clone(),
        entry.by.username.clone().unwrap_or_default(),
        entry.reason.clone(),
    ]
}

/// Reads a log that [`write_moderation_log`] wrote.
pub(crate) fn read_moderation_log(source: impl Read) -> Result<Vec<ModerationEntry>, String> {
    let mut reader = csv::Reader::from_reader(source);
    let rows = reader.deserialize().zip(1..).map(|(row, number): (csv::Result<Line>, u64)| {
        let read = row.map_err(|error| error.to_string()).and_then(|row| entry(row, number));
        read.map_err(|reason| format!("entry {number}: {reason}"))
    });
    rows.collect()
}

/// Writes the column names and the entries.
pub(crate) fn write_moderation_log<'a>(
    output: impl Write,
    entries: impl Iterator<Item = &'a ModerationEntry>,
) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(Line::COLUMNS)?;
    for entry in entries {
        writer.write_record(fields(entry))?;
    }
    Ok(writer.flush()?)
}

impl FolderWriter {
    /// Starts writing `moderation_log.csv`.
    pub fn moderation_log(&self) -> Result<CsvWriter<ModerationEntry>, WriteError> {
        self.rows::<_, Line>(FolderFile::ModerationLog)
    }
}

impl CsvWriter<ModerationEntry> {
    /// Writes the next entry.
    pub fn write(&mut self, entry: &ModerationEntry) -> Result<(), WriteError> {
        self.record(&fields(entry).each_ref().map(String::as_str))
    }
}
