use std::path::Path;

use csv::Position;
use serde::de::DeserializeOwned;

use super::{Fault, Lines, text_of};
use crate::datasets::DatasetError;
use crate::model::{NAME, is_name};

/// A row of a file as it stands there, all of it text.
pub(super) trait Row: DeserializeOwned {
    /// The columns the file must have.
    const COLUMNS: &[&str];
}

/// Makes an item of each row of the file; none when there is no such file.
///
/// `make` answers the reason when the row is wrong.
pub(super) fn read<R: Row, T>(
    path: &Path,
    make: impl FnMut(R) -> Result<T, String>,
) -> Result<Vec<T>, DatasetError> {
    let Some(text) = text_of(path)? else { return Ok(Vec::new()) };
    items(&text, make).map_err(|fault| fault.in_file(path))
}

fn items<R: Row, T>(text: &str, mut make: impl FnMut(R) -> Result<T, String>) -> Result<Vec<T>, Fault> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| fault(1, error))?.clone();
    if let Some(missing) = R::COLUMNS.iter().find(|&&column| !headers.iter().any(|known| known == column)) {
        return Err(Fault { line: 1, reason: format!("the column {missing} is missing") });
    }
    let mut lines = Lines::of(text.as_bytes());
    let mut items = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| fault(lines.at(beginning(text, error.position())), error))?;
        let line = lines.at(beginning(text, record.position()));
        let row: R = record.deserialize(Some(&headers)).map_err(|error| fault(line, error))?;
        items.push(make(row).map_err(|reason| Fault { line, reason })?);
    }
    Ok(items)
}

/// A column that is a name or empty; `None` when it is empty or there is no such column.
pub(super) fn name(column: &str, text: Option<String>) -> Result<Option<String>, String> {
    match text.filter(|text| !text.is_empty()) {
        Some(text) if !is_name(&text) => Err(format!("{column} must be {NAME}")),
        name => Ok(name),
    }
}

/// Where a row begins. The reader's own position, and its count of lines, stand before the line breaks that end the
/// row before.
fn beginning(text: &str, position: Option<&Position>) -> usize {
    let offset = position.map_or(0, |position| position.byte() as usize);
    let rest = text.get(offset..).unwrap_or_default();
    let breaks = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
    offset + breaks
}

fn fault(line: u64, error: csv::Error) -> Fault {
    let reason = match error.into_kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("has {len} fields where the first line has {expected_len}")
        }
        other => format!("{other:?}"),
    };
    Fault { line, reason }
}
