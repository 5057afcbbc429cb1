use std::path::Path;

use serde::Deserialize;

use super::csv_file;
use crate::datasets::DatasetError;
use crate::model::{Actor, AreaSet, FloodChange, InvalidFloodState, Timestamp};

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

impl csv_file::Row for Row {
    const COLUMNS: &[&str] = &["area_id", "state", "changed_at"];
}

/// Reads the log of flood states, oldest first whatever the order in the file; empty when there is no such file.
pub(super) fn read(path: &Path, areas: &AreaSet, now: Timestamp) -> Result<Vec<FloodChange>, DatasetError> {
    let mut log = csv_file::read(path, |row| change(row, areas, now))?;
    log.sort_by_key(|change| change.at);
    Ok(log)
}

fn change(row: Row, areas: &AreaSet, now: Timestamp) -> Result<FloodChange, String> {
    let area = row.area_id.parse().map_err(|error| format!("area_id {error}"))?;
    if areas.position(area).is_none() {
        return Err(format!("area_id {area} is not in areas.geojson"));
    }
    let state = match row.state.as_str() {
        "" => None,
        code => Some(
            code.parse()
                .map_err(|error: InvalidFloodState| format!("state {error} or empty, not {code:?}"))?,
        ),
    };
    let at = Timestamp::parse(&row.changed_at).map_err(|error| format!("changed_at {error}"))?;
    if at > now {
        return Err(format!("changed_at must not be after now, {now}"));
    }
    let username = csv_file::name("username", row.username)?;
    Ok(FloodChange { area, state, at, by: Actor { subject: "import".to_owned(), username } })
}
