//! The log of flood states, and the current states.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Deserialize;
use siaga::folder::{CsvWriter, FolderFile};
use siaga::model::{Actor, AreaId, FloodChange, FloodState, Timestamp};

use super::copied::What;
use super::source::{CopyError, Refused, Source, Table, TableRow};
use super::values::{moment, number, text};

/// The changes, oldest first, so that the later of two changes within a millisecond wins.
const LOG: Table = Table {
    name: "cognicity.rem_status_log",
    sql: "SELECT row_to_json(t)::text, NULL::bytea, 'id ' || id
          FROM cognicity.rem_status_log t ORDER BY changed, id",
};

const STATES: Table = Table {
    name: "cognicity.rem_status",
    sql: "SELECT row_to_json(t)::text, NULL::bytea, 'local_area ' || local_area
          FROM cognicity.rem_status t ORDER BY local_area",
};

/// The subject of copied changes.
const SUBJECT: &str = "cognicity";

#[derive(Deserialize)]
struct Change {
    local_area: Option<i64>,
    state: Option<i64>,
    changed: Option<String>,
    username: Option<String>,
}

#[derive(Deserialize)]
struct Current {
    local_area: Option<i64>,
    state: Option<i64>,
    last_updated: Option<String>,
}

type Ends = HashMap<AreaId, (Option<FloodState>, Timestamp)>;

/// Copies the log of the areas in `known`. Then adds an entry for each area whose current state differs from the state at the end
/// of its log, or was set later.
pub(super) async fn states(
    source: &mut Source,
    states: &mut CsvWriter<FloodChange>,
    known: &HashSet<AreaId>,
    now: Timestamp,
) -> Result<(), CopyError> {
    let mut ends = Ends::new();
    let copy_row = |columns: Change, row: &mut TableRow<'_>| {
        let area = area(columns.local_area, known)?;
        let state = flood_state(columns.state)?;
        let at = past_moment("changed", columns.changed.as_deref(), now)?;
        let username = row.value("username", text("username", columns.username.as_deref()).map(Some));
        let username = username.filter(|name| !name.is_empty());
        ends.insert(area, (state, at));
        states.write(&change(area, state, at, username))?;
        row.copied.count_row(FolderFile::FloodStates);
        Ok(())
    };
    source.each(LOG, copy_row).await?;

    let mut current_areas = HashSet::new();
    let copy_row = |columns: Current, row: &mut TableRow<'_>| {
        let area = area(columns.local_area, known)?;
        // Added before other columns are read: an error in them does not mean that the area was cleared.
        current_areas.insert(area);
        let state = flood_state(columns.state)?;
        let updated = past_moment("last_updated", columns.last_updated.as_deref(), now)?;
        let end = ends.get(&area).copied();
        let logged_state = end.and_then(|(state, _)| state);
        let is_later = end.is_none_or(|(_, at)| updated > at);
        if logged_state == state && (state.is_none() || !is_later) {
            return Ok(());
        }
        let after = end.map_or(updated, |(_, at)| at.saturating_add(Duration::from_millis(1)));
        let at = updated.max(after);
        row.note(What::Logged, "whose state differs from the end of the log, or is newer");
        states.write(&change(area, state, at, None))?;
        row.copied.count_row(FolderFile::FloodStates);
        Ok(())
    };
    source.each(STATES, copy_row).await?;
    if source.has(STATES.name).await? {
        clear(source, states, &ends, &current_areas, now)?;
    }
    Ok(())
}

/// Clears areas without a current state whose log ends with a state. Uses the time of the copy, because the database does not
/// record when such an area was cleared.
fn clear(
    source: &mut Source,
    states: &mut CsvWriter<FloodChange>,
    ends: &Ends,
    current_areas: &HashSet<AreaId>,
    now: Timestamp,
) -> Result<(), CopyError> {
    let is_uncleared = |(area, (state, _)): &(&AreaId, &(Option<FloodState>, Timestamp))| {
        state.is_some() && !current_areas.contains(area)
    };
    let mut uncleared: Vec<_> = ends.iter().filter(is_uncleared).collect();
    uncleared.sort_unstable_by_key(|(area, _)| **area);
    for (&area, &(_, at)) in uncleared {
        states.write(&change(area, None, now.max(at), None))?;
        source.copied.count_row(FolderFile::FloodStates);
        let reason =
            "which is missing though the log says that the area is flooded: cleared at the time of the copy";
        source.copied.note(STATES.name, What::Logged, reason.to_owned(), &format!("local_area {area}"));
    }
    Ok(())
}

fn change(area: AreaId, state: Option<FloodState>, at: Timestamp, username: Option<String>) -> FloodChange {
    FloodChange { area, state, at, received: at, by: Actor { subject: SUBJECT.to_owned(), username } }
}

fn area(number_of: Option<i64>, known: &HashSet<AreaId>) -> Result<AreaId, Refused> {
    let number = number("local_area", number_of.ok_or("local_area is empty")?)?;
    let area = AreaId::try_from(number).map_err(|error| format!("local_area {error}"))?;
    if known.contains(&area) { Ok(area) } else { Err("local_area is none of the areas copied".into()) }
}

/// Parses a state; 0 and null mean none.
fn flood_state(code: Option<i64>) -> Result<Option<FloodState>, Refused> {
    let Some(code) = code.filter(|&code| code != 0) else { return Ok(None) };
    let state = u64::try_from(code).ok().and_then(|code| code.try_into().ok());
    state.map(Some).ok_or_else(|| "state must be one of [0, 1, 2, 3, 4] or null".into())
}

fn past_moment(column: &str, value: Option<&str>, now: Timestamp) -> Result<Timestamp, Refused> {
    let at = moment(column, value)?;
    if at > now { Err(format!("{column} lies in the future").into()) } else { Ok(at) }
}
