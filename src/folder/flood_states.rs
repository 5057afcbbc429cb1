use serde::Deserialize;

use super::csv_file::{self, Record};
use super::{CsvWriter, Folder, FolderFile, FolderRow, FolderWriter, WriteError};
use crate::folder::DatasetError;
use crate::model::{Actor, AreaSet, FloodChange, InvalidFloodState, Timestamp, without_zero_fraction};

/// Who made a change if the file does not say it.
const IMPORT: &str = "import";

/// A row of the file, as text.
#[derive(Deserialize)]
struct Change {
    area_id: String,
    /// Empty if the state was cleared.
    state: String,
    changed_at: String,
    #[serde(default)]
    username: Option<String>,
    #[serde(default)]
    subject: Option<String>,
}

impl Record for Change {
    const COLUMNS: &[&str] = &["area_id", "state", "changed_at"];
    const OPTIONAL: &[&str] = &["username", "subject"];
}

impl Folder {
    /// Reads the log of flood states, which may be in any order. Its areas must be among `areas`, and no change may be
    /// after `now`. If an area has several changes with the same time, the last one counts.
    ///
    /// # Errors
    ///
    /// As [`Self::areas`].
    pub fn flood_states<E: From<DatasetError>>(
        &self,
        areas: &AreaSet,
        now: Timestamp,
        each: impl FnMut(FolderRow<FloodChange>) -> Result<(), E>,
    ) -> Result<(), E> {
        csv_file::read(self, FolderFile::FloodStates, |row, _| change(row, areas, now), each)
    }
}

fn change(row: Change, areas: &AreaSet, now: Timestamp) -> Result<FloodChange, String> {
    let area =
        without_zero_fraction(row.area_id.trim()).parse().map_err(|error| format!("area_id {error}"))?;
    if areas.position(area).is_none() {
        return Err(format!("area_id {area} is no known area"));
    }
    let state = match row.state.trim() {
        "" => None,
        code => Some(
            without_zero_fraction(code)
                .parse()
                .map_err(|error: InvalidFloodState| format!("state {error} or empty, not {code:?}"))?,
        ),
    };
    let at = Timestamp::parse(row.changed_at.trim()).map_err(|error| format!("changed_at {error}"))?;
    if at > now {
        return Err(format!("changed_at must not be after now, {now}"));
    }
    let username = csv_file::name("username", row.username)?;
    let subject = row.subject.filter(|subject| !subject.is_empty());
    let subject = csv_file::text("subject", subject.unwrap_or_else(|| IMPORT.to_owned()))?;
    Ok(FloodChange { area, state, at, received: at, by: Actor { subject, username } })
}

impl FolderWriter {
    /// Begins `flood_states.csv`.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn flood_states(&self) -> Result<CsvWriter<FloodChange>, WriteError> {
        self.rows(FolderFile::FloodStates, CsvWriter::<FloodChange>::COLUMNS)
    }
}

impl CsvWriter<FloodChange> {
    pub(super) const COLUMNS: [&str; 5] = ["area_id", "state", "changed_at", "username", "subject"];

    /// Writes the next change.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&mut self, change: &FloodChange) -> Result<(), WriteError> {
        let state = change.state.map_or_else(String::new, |state| state.code().to_string());
        let username = change.by.username.as_deref().unwrap_or_default();
        let (area, at) = (change.area.to_string(), change.at.to_string());
        self.record([&area, &state, &at, username, &change.by.subject])
    }
}
