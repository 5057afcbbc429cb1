use std::cell::RefCell;
use std::io::{self, Read};

use csv::{StringRecord, Trim};
use serde::de::DeserializeOwned;

use super::lines::Lines;
use super::notes::FileNotes;
use super::source::Source;
use super::{Folder, FolderFile, FolderRow};
use crate::folder::DatasetError;
use crate::model::{NAME, is_name};

/// The longest row in bytes. This limits memory if a quotation mark is left open.
const LONGEST: usize = 16 << 20;

/// A row of a file, all of it text.
pub(super) trait Record: DeserializeOwned {
    /// The columns the file must have.
    const COLUMNS: &[&str];
    /// Optional columns that are kept.
    const OPTIONAL: &[&str] = &[];
}

/// Makes a value from each row of the file and passes it to `each`, in the order of the file. Does nothing if there is
/// no such file.
///
/// `make` gets the row and its line, and returns the reason if the row is wrong. Columns that are not kept are noted.
/// Holds one row at a time.
pub(super) fn read<R: Record, T, E: From<DatasetError>>(
    folder: &Folder,
    file: FolderFile,
    mut make: impl FnMut(R, u64) -> Result<T, String>,
    mut each: impl FnMut(FolderRow<T>) -> Result<(), E>,
) -> Result<(), E> {
    let Some(source) = folder.source(file)? else { return Ok(()) };
    let fault = |line, reason: String| folder.fault(file, line, reason);
    let wrong = |line, error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) if matches!(error.get_ref(), Some(inner) if inner.is::<TooLong>()) => {
            fault(line, TooLong.to_string())
        }
        csv::ErrorKind::Io(error) => folder.unreadable(file, error),
        kind => fault(line, reason(kind)),
    };
    let lines = RefCell::new(Lines::new());
    let noted = Noted { source, lines: &lines };
    // Whitespace in a text is a part of it.
    let mut reader = csv::ReaderBuilder::new().trim(Trim::Headers).from_reader(noted);
    let headers = reader.headers().map_err(|error| wrong(1, error))?.clone();
    if let Some(missing) = R::COLUMNS.iter().find(|&&column| !headers.iter().any(|known| known == column)) {
        return Ok(folder.pass_over(fault(1, format!("the column {missing} is missing")))?);
    }
    let is_kept = |column: &str| R::COLUMNS.contains(&column) || R::OPTIONAL.contains(&column);
    let unkept: Vec<_> = headers.iter().enumerate().filter(|(_, column)| !is_kept(column)).collect();
    let mut notes = FileNotes::default();
    let mut record = StringRecord::new();
    loop {
        let begins = reader.position().byte();
        let read = reader.read_record(&mut record);
        let line = lines.borrow_mut().of_row(begins);
        match read {
            Ok(true) => {}
            Ok(false) => {
                folder.note(file, notes);
                return Ok(());
            }
            Err(error) if error.is_io_error() => return Err(wrong(line, error).into()),
            Err(error) => {
                folder.pass_over(wrong(line, error))?;
                continue;
            }
        }
        let filled =
            unkept.iter().filter(|(index, _)| record.get(*index).is_some_and(|text| !text.is_empty()));
        filled.for_each(|(_, column)| notes.unkept(column));
        let row = record.deserialize(Some(&headers)).map_err(|error| wrong(line, error));
        let made = row.and_then(|row| make(row, line).map_err(|reason| fault(line, reason)));
        match made {
            Ok(value) => each(FolderRow { line, value })?,
            Err(fault) => folder.pass_over(fault)?,
        }
    }
}

/// Returns a column that is a name or empty; `None` if it is empty or there is no such column.
pub(super) fn name(column: &str, text: Option<String>) -> Result<Option<String>, String> {
    match text.filter(|text| !text.is_empty()) {
        Some(text) if !is_name(&text) => Err(format!("{column} must be {NAME}")),
        name => Ok(name),
    }
}

/// Returns a column that may be any text without NUL characters, unchanged.
pub(super) fn text(column: &str, text: String) -> Result<String, String> {
    if text.contains('\0') {
        Err(format!("{column} must be a text without NUL characters"))
    } else {
        Ok(text)
    }
}

/// Records what the CSV reader reads ahead of its rows. The reader's own line count is that of the place where it
/// looked for a row: before the line breaks that end the previous row, and before empty lines.
struct Noted<'f, 'l> {
    source: Source<'f>,
    lines: &'l RefCell<Lines>,
}

impl Read for Noted<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut lines = self.lines.borrow_mut();
        if lines.ahead() > LONGEST {
            return Err(io::Error::other(TooLong));
        }
        let count = self.source.read(out)?;
        lines.read(&out[..count]);
        Ok(count)
    }
}

/// A row is longer than [`LONGEST`].
#[derive(Debug, thiserror::Error)]
#[error("is longer than {} MiB; is a quotation mark left open?", LONGEST >> 20)]
struct TooLong;

fn reason(kind: csv::ErrorKind) -> String {
    match kind {
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("has {len} fields where the first line has {expected_len}")
        }
        other => format!("{other:?}"),
    }
}
