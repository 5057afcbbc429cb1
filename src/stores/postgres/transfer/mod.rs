//! Imports and exports data sets, each in one transaction, row by row as they come.

mod export;
mod history;
mod import;
mod intake;
mod moderation;
mod places;
mod relocation;
mod removal;

use std::error::Error;

use sqlx::PgConnection;

pub(super) use self::export::export;
use self::import::{Import, ImportError};
use crate::datasets::Folder;
use crate::model::Timestamp;
use crate::stores::{Imported, Replace};

/// Imports a folder. Blocks the thread.
pub(super) fn import(
    connection: PgConnection,
    folder: &Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<Imported, Box<dyn Error + Send + Sync>> {
    let mut import = Import::new(connection, folder, now);
    run(&mut import, replace)?;
    Ok(import.done)
}

fn run(import: &mut Import<'_>, replace: Replace) -> Result<(), ImportError> {
    import.execute(sqlx::query("BEGIN"))?;
    // Only one import runs at a time. It counts its changes in a shard of its own, because it takes long.
    import.execute(sqlx::query("SELECT pg_advisory_xact_lock(hashtext('siaga import'))"))?;
    import.execute(sqlx::query("SET LOCAL siaga.shard = 32"))?;
    let areas = places::areas(import)?;
    places::regions(import)?;
    let cities_changed = places::cities(import)?;
    let removed = removal::others(import, &areas, replace)?;
    let stored = import.read(super::places::read)?;
    places::infrastructure(import, &stored)?;
    history::gauges(import, &stored)?;
    let logged = history::flood_states(import, &stored)?;
    // Last, because new reports may have to wait until the import ends.
    moderation::erased_reports(import)?;
    intake::reports(import, &stored)?;
    intake::cards(import)?;
    intake::partner_posts(import)?;
    moderation::moderation_log(import)?;
    import.done.relocated = relocation::relocate(import, &removed, cities_changed, &stored)?;
    history::standing_states(import, &logged)?;
    intake::count_on(import)?;
    import.execute(sqlx::query("SELECT pg_notify('siaga', '')"))?;
    import.execute(sqlx::query("COMMIT"))?;
    Ok(())
}
