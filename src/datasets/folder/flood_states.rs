use std::path::Path;

use serde::Deserialize;

use super::{Fault, text_of};
use crate::datasets::DatasetError;
use crate::model::{Actor, AreaSet, FloodChange, FloodState, Period, Timestamp};

/// A row of the file as it stands there.
#[derive(Deserialize)]
struct Row {
    area_id: String,
    /// Empty for a clearing.
    state: String,
    changed_at: String,
    #[serde(default)]
    username: Option<String>,
}

/// Reads the log of flood states, oldest first whatever the order in the file; empty when there is no such file.
pub(super) fn read(path: &Path, areas: &AreaSet, now: Timestamp) -> Result<Vec<FloodChange>, DatasetError> {
    let text = text_of(path)?;
    let mut log = changes(&text, areas, now).map_err(|fault| fault.in_file(path))?;
    log.sort_by_key(|change| change.at);
    Ok(log)
}

fn changes(text: &str, areas: &AreaSet, now: Timestamp) -> Result<Vec<FloodChange>, Fault> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| fault(1, error))?.clone();
    let mut log = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, csv::Position::line);
            fault(line, error)
        })?;
        let line = record.position().map_or(1, csv::Position::line);
        let row: Row = record.deserialize(Some(&headers)).map_err(|error| fault(line, error))?;
        log.push(change(row, areas, now).map_err(|reason| Fault { line, reason })?);
    }
    Ok(log)
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

fn change(row: Row, areas: &AreaSet, now: Timestamp) -> Result<FloodChange, String> {
    let area = row.area_id.parse().map_err(|error| format!("area_id {error}"))?;
    if areas.position(area).is_none() {
        return Err(format!("area_id {area} is not in areas.geojson"));
    }
    let state = match row.state.as_str() {
        "" => None,
        code => Some(state(code)?),
    };
    let at = Period::parse_moment(&row.changed_at).map_err(|error| format!("changed_at {error}"))?;
    if at > now {
        return Err(format!("changed_at must not be after now, {now}"));
    }
    let username = row.username.filter(|name| !name.is_empty());
    Ok(FloodChange { area, state, at, by: Actor { subject: "import".to_owned(), username } })
}

fn state(code: &str) -> Result<FloodState, String> {
    code.parse::<u64>()
        .ok()
        .and_then(|code| FloodState::try_from(code).ok())
        .ok_or_else(|| format!("state must be one of [1, 2, 3, 4] or empty, not {code:?}"))
}
