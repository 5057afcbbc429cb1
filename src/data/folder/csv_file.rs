use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, BufRead, Read};
use std::str::FromStr;

use csv::{StringRecord, Trim};
use serde::de::DeserializeOwned;

use super::lines::Lines;
use super::notes::FileNotes;
use super::source::Source;
use super::{Folder, FolderFile, FolderRow};
use crate::data::folder::DatasetError;
use crate::model::{NAME, Timestamp, is_name, without_zero_fraction};

/// The maximum length of a row in bytes. Limits memory if a quotation mark is left open.
const LONGEST: usize = 16 << 20;

/// The maximum number of columns that a message lists.
const SHOWN: usize = 40;

pub(super) trait Record: DeserializeOwned {
    /// The required columns.
    const COLUMNS: &[&str];
    /// Optional columns, written after the others.
    const OPTIONAL: &[&str];
}

/// Defines a row: its required columns, and after a semicolon the optional ones.
macro_rules! record {
    ($Row:ident { $($column:ident),+ $(; $($optional:ident),+)? }) => {
        #[derive(serde::Deserialize)]
        struct $Row {
            $($column: String,)+
            $($($optional: Option<String>,)+)?
        }

        impl csv_file::Record for $Row {
            const COLUMNS: &[&str] = &[$(stringify!($column)),+];
            const OPTIONAL: &[&str] = &[$($(stringify!($optional)),+)?];
        }
    };
}
pub(super) use record;

/// Reads each row of the file in order, converts it with `make` and passes it to `each`. Does nothing if there is no file.
///
/// `make` returns an error with the reason if the row is wrong. Notes ignored columns. Keeps one row at a time in memory.
pub(super) fn read<R: Record, T, E: From<DatasetError>>(
    folder: &Folder,
    file: FolderFile,
    mut make: impl FnMut(R, u64) -> Result<T, String>,
    mut each: impl FnMut(FolderRow<T>) -> Result<(), E>,
) -> Result<(), E> {
    let Some(mut source) = folder.source(file)? else { return Ok(()) };
    let beginning = source.fill_buf().map_err(|error| folder.unreadable(file, error))?;
    let Separator { delimiter, prefix_length } = Separator::find(beginning, R::COLUMNS);
    // Leaves the line break after the declaration unread, so that the line numbers include the declaration.
    source.consume(prefix_length);
    let fault = |line, reason: String| folder.fault(file, line, reason);
    let csv_error = |line, error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) if matches!(error.get_ref(), Some(inner) if inner.is::<TooLong>()) => {
            fault(line, TooLong.to_string())
        }
        csv::ErrorKind::Io(error) => folder.unreadable(file, error),
        kind => fault(line, reason(kind)),
    };
    let lines = RefCell::new(Lines::new());
    let input = ReadAhead { source, lines: &lines };
    // Trims only the headers, because whitespace in a text is significant.
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(Trim::Headers).from_reader(input);
    let known = [R::COLUMNS, R::OPTIONAL].concat();
    let headers = match_headers(reader.headers().map_err(|error| csv_error(1, error))?, &known);
    if let Some(missing) = R::COLUMNS.iter().find(|&&column| !headers.iter().any(|known| known == column)) {
        let found: Vec<_> =
            headers.iter().take(SHOWN).map(|column| column.escape_debug().to_string()).collect();
        let found = found.join(", ");
        let reason = format!(
            "the column {missing} is missing; the columns are [{found}]: rename one of them, or add it"
        );
        return Ok(folder.skip_fault(fault(1, reason))?);
    }
    let is_kept = |column: &str| known.contains(&column);
    let ignored: Vec<_> = headers.iter().enumerate().filter(|(_, column)| !is_kept(column)).collect();
    let mut notes = FileNotes::default();
    let mut record = StringRecord::new();
    loop {
        let begins = reader.position().byte();
        let read = reader.read_record(&mut record);
        let line = lines.borrow_mut().line_at(begins);
        match read {
            Ok(true) => {}
            Ok(false) => {
                folder.note(file, notes);
                return Ok(());
            }
            Err(error) if error.is_io_error() => return Err(csv_error(line, error).into()),
            Err(error) => {
                folder.skip_fault(csv_error(line, error))?;
                continue;
            }
        }
        let filled =
            ignored.iter().filter(|(index, _)| record.get(*index).is_some_and(|text| !text.is_empty()));
        filled.for_each(|(_, column)| notes.count_ignored(column));
        let row = record.deserialize(Some(&headers)).map_err(|error| csv_error(line, error));
        let made = row.and_then(|row| make(row, line).map_err(|reason| fault(line, reason)));
        match made {
            Ok(value) => each(FolderRow { line, value })?,
            Err(fault) => folder.skip_fault(fault)?,
        }
    }
}

struct Separator {
    delimiter: u8,
    /// The length in bytes of a declaration at the beginning, such as `sep=;` by a spreadsheet; 0 without a declaration.
    prefix_length: usize,
}

impl Separator {
    /// Uses the separator that the first line declares. Without a declaration, the separator that finds the most `columns` in it.
    fn find(beginning: &[u8], columns: &[&str]) -> Self {
        let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let start = beginning.iter().position(|byte| !is_break(byte)).unwrap_or(0);
        let length = beginning[start..].iter().position(is_break).unwrap_or(beginning.len() - start);
        let line = &beginning[start..start + length];
        let bare = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
        if let [s, e, p, b'=', delimiter] = bare
            && [*s, *e, *p].eq_ignore_ascii_case(b"sep")
            && delimiter.is_ascii()
        {
            return Self { delimiter: *delimiter, prefix_length: start + length };
        }
        let count_matches = |delimiter: &u8| {
            let mut reader =
                csv::ReaderBuilder::new().delimiter(*delimiter).trim(Trim::Headers).from_reader(line);
            let headers = reader.headers().map(|headers| match_headers(headers, columns)).unwrap_or_default();
            columns.iter().filter(|column| headers.iter().any(|known| known == **column)).count()
        };
        // If several separators find equally many columns, `max_by_key` returns the last of these separators.
        let delimiter = [b'\t', b';', b','].into_iter().max_by_key(count_matches).unwrap_or(b',');
        Self { delimiter, prefix_length: 0 }
    }
}

/// Returns the headers. If a `known` column has no header, renames the first header that differs from the column only in case.
fn match_headers(headers: &StringRecord, known: &[&str]) -> StringRecord {
    let mut named: Vec<&str> = headers.iter().collect();
    for column in known.iter().filter(|column| !headers.iter().any(|header| header == **column)) {
        if let Some(other) = named.iter_mut().find(|header| header.eq_ignore_ascii_case(column)) {
            *other = *column;
        }
    }
    named.into()
}

/// Returns a name; `None` if it is absent or empty.
pub(super) fn name(column: &str, text: Option<String>) -> Result<Option<String>, String> {
    match text.filter(|text| !text.is_empty()) {
        Some(text) if !is_name(&text) => Err(format!("{column} must be {NAME}")),
        name => Ok(name),
    }
}

/// Returns a text unchanged. Any text without NUL characters is allowed.
pub(super) fn text(column: &str, text: String) -> Result<String, String> {
    if text.contains('\0') {
        Err(format!("{column} must be a text without NUL characters"))
    } else {
        Ok(text)
    }
}

/// Parses a value. If it is a number, it may have a fraction of zeros, such as `5.0`.
pub(super) fn parse<T: FromStr<Err: Display>>(column: &str, text: &str) -> Result<T, String> {
    without_zero_fraction(text.trim()).parse().map_err(|error| format!("{column} {error}"))
}

pub(super) fn moment(column: &str, text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text.trim()).map_err(|error| format!("{column} {error}"))
}

/// Records the bytes that the CSV reader reads, to count lines: the CSV reader's own count excludes empty lines before a row.
struct ReadAhead<'f, 'l> {
    source: Source<'f>,
    lines: &'l RefCell<Lines>,
}

impl Read for ReadAhead<'_, '_> {
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
