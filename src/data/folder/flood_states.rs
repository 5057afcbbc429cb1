use super::csv_file::{self, record};
use super::{CsvWriter, Folder, FolderFile, FolderRow, FolderWriter, WriteError};
use crate::data::folder::DatasetError;
use crate::model::{Actor, AreaSet, FloodChange, Timestamp};

const IMPORT: &str = "import";

record!(Change { area_id, state, changed_at; username, subject });

impl Folder {
    /// Reads the log of flood states, whose rows may be in any order. Fails if an area is not in `areas`, or a change is after
    /// `now`. If several changes of an area have the same time, the last one counts.
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
    let area = csv_file::parse("area_id", &row.area_id)?;
    if areas.find(area).is_none() {
        return Err(format!("area_id {area} is no known area"));
    }
    let state = match row.state.trim() {
        "" => None,
        code => {
            let state = csv_file::parse("state", code);
            Some(state.map_err(|reason| format!("{reason} or empty, not {code:?}"))?)
        }
    };
    let at = csv_file::moment("changed_at", &row.changed_at)?;
    if at > now {
        return Err(format!("changed_at must not be after now, {now}"));
    }
    let username = csv_file::name("username", row.username)?;
    let subject = row.subject.filter(|subject| !subject.is_empty());
    let subject = csv_file::text("subject", subject.unwrap_or_else(|| IMPORT.to_owned()))?;
    Ok(FloodChange { area, state, at, received: at, by: Actor { subject, username } })
}

impl FolderWriter {
    /// Starts writing `flood_states.csv`.
    pub fn flood_states(&self) -> Result<CsvWriter<FloodChange>, WriteError> {
        self.rows::<_, Change>(FolderFile::FloodStates)
    }
}

impl CsvWriter<FloodChange> {
    /// Writes the next change.
    pub fn write(&mut self, change: &FloodChange) -> Result<(), WriteError> {
        let state = change.state.map_or_else(String::new, |state| state.code().to_string());
        let username = change.by.username.as_deref().unwrap_or_default();
        let (area, at) = (change.area.to_string(), change.at.to_string());
        self.record(&[&area, &state, &at, username, &change.by.subject])
    }
}
