//! The removal of areas that a folder does not have.

use super::import::{Import, ImportError, LOCK_STATES};
use crate::stores::Replace;

const ANY_OTHERS: &str = "SELECT area_id FROM areas WHERE area_id <> ALL ($1) LIMIT 1";

const OTHERS: &str = "
    SELECT area_id, area_name, parent_name,
           (SELECT count(*) FROM flood_changes WHERE flood_changes.area_id = areas.area_id)
    FROM areas WHERE area_id <> ALL ($1) ORDER BY area_id";

const STATES: &str = "DELETE FROM flood_states WHERE area_id = ANY ($1)";
const CHANGES: &str = "DELETE FROM flood_changes WHERE area_id = ANY ($1)";
const AREAS: &str = "DELETE FROM areas WHERE area_id = ANY ($1)";

/// How many areas a message names.
const SHOWN: usize = 5;

type Other = (i64, String, String, i64);

/// Removes the areas other than those of the folder, and returns their identifiers.
///
/// # Errors
///
/// If the folder has no areas, or an area to be removed has entries in the log that must stay.
pub(super) fn others(
    import: &mut Import<'_>,
    areas: &[i64],
    replace: Replace,
) -> Result<Vec<i64>, ImportError> {
    if replace == Replace::Nothing {
        return Ok(Vec::new());
    }
    if areas.is_empty() {
        let reason = "areas.geojson is missing or has no area, so all areas of the store would be removed";
        return Err(ImportError::Kept(reason.to_owned()));
    }
    let any: Vec<(i64,)> = import.rows(sqlx::query_as(ANY_OTHERS).bind(areas))?;
    if any.is_empty() {
        return Ok(Vec::new());
    }
    // A session that waits for this finds the area removed, or still there.
    import.lock(LOCK_STATES)?;
    let others: Vec<Other> = import.rows(sqlx::query_as(OTHERS).bind(areas))?;
    let logged: Vec<_> = others.iter().filter(|(.., changes)| *changes > 0).collect();
    if replace == Replace::Areas && !logged.is_empty() {
        return Err(ImportError::Kept(refusal(&logged)));
    }
    let ids: Vec<i64> = others.iter().map(|(id, ..)| *id).collect();
    import.execute(sqlx::query(STATES).bind(&ids))?;
    import.done.removed.changes = import.execute(sqlx::query(CHANGES).bind(&ids))?;
    import.done.removed.areas = import.execute(sqlx::query(AREAS).bind(&ids))?;
    Ok(ids)
}

fn refusal(logged: &[&Other]) -> String {
    let called = |(id, name, parent, changes): &&Other| format!("{id} ({name}, {parent}: {changes} entries)");
    let mut named: Vec<_> = logged.iter().take(SHOWN).map(called).collect();
    if logged.len() > SHOWN {
        named.push(format!("{} more", logged.len() - SHOWN));
    }
    format!(
        "areas that the folder does not have are in the log of flood states: {}; nothing was imported. Add them to the \
         folder, or remove them with their log by --replace areas-and-log, after siaga export",
        named.join(", ")
    )
}
