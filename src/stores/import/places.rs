use std::collections::HashSet;

use super::{Import, Lies, OtherArea, Target};
use crate::data::folder::FolderFile;
use crate::model::{AreaId, Position};
use crate::stores::{OpenError, Removed, Replace};

/// How many areas a message names.
const SHOWN: usize = 5;

/// The changes of places after which stored reports can lie elsewhere.
pub(super) struct Changes {
    /// The areas that were removed.
    removed: Vec<AreaId>,
    /// Whether the boundary of a city is new or different.
    cities: bool,
}

impl<T: Target> Import<'_, T> {
    /// Imports areas, provinces, cities and infrastructure.
    pub(super) fn places(&mut self, replace: Replace) -> Result<Changes, OpenError> {
        let mut areas = HashSet::new();
        self.fill(
            FolderFile::Areas,
            |folder, each| folder.areas(each),
            |import, rows| {
                areas.extend(rows.iter().map(|row| row.value.id));
                import.replace(FolderFile::Areas, rows).map(drop)
            },
        )?;
        self.fill(
            FolderFile::Regions,
            |folder, each| folder.regions(each),
            |import, rows| import.replace(FolderFile::Regions, rows).map(drop),
        )?;
        let mut cities = false;
        self.fill(
            FolderFile::Cities,
            |folder, each| folder.cities(each),
            |import, rows| {
                cities |= !import.replace(FolderFile::Cities, rows)?.is_empty();
                Ok(())
            },
        )?;
        let removed = self.remove_others(&areas, replace)?;
        self.places = self.target.places()?;
        self.infrastructure(&removed)?;
        Ok(Changes { removed, cities })
    }

    /// Removes the areas other than those of the folder, and returns them.
    fn remove_others(&mut self, areas: &HashSet<AreaId>, replace: Replace) -> Result<Vec<AreaId>, OpenError> {
        if replace == Replace::Nothing {
            return Ok(Vec::new());
        }
        if areas.is_empty() {
            let reason =
                "areas.geojson is missing or has no area, so all areas of the store would be removed";
            return Err(reason.into());
        }
        let others = self.target.other_areas(areas)?;
        let logged: Vec<_> = others.iter().filter(|area| area.entries > 0).collect();
        if replace == Replace::Areas && !logged.is_empty() {
            return Err(refusal(&logged).into());
        }
        let changes = others.iter().map(|area| area.entries).sum();
        self.done.removed = Removed { areas: others.len() as u64, changes };
        let removed: Vec<_> = others.into_iter().map(|area| area.id).collect();
        if !removed.is_empty() {
            self.target.remove_areas(&removed)?;
        }
        Ok(removed)
    }

    /// Finds new areas for the reports that lay in removed ones, and the city of every report if cities have changed. Counts what is in
    /// another area or city now.
    ///
    /// Nobody else adds a report meanwhile: one that was located before this import would keep its old area and city.
    pub(super) fn relocate(&mut self, Changes { removed, cities }: &Changes) -> Result<(), OpenError> {
        if removed.is_empty() && !cities {
            return Ok(());
        }
        self.target.lock_reports()?;
        let gone: HashSet<AreaId> = removed.iter().copied().collect();
        let locator = self.places.locator();
        let moved = |place: Position, before: &Lies| {
            let located = locator.locate(place);
            let is_gone = before.0.is_some_and(|area| gone.contains(&area));
            let now = (if is_gone { located.local_area_id } else { before.0 }, located.city);
            (now != *before).then_some(now)
        };
        let within = (!cities).then_some(removed.as_slice());
        self.done.relocated += self.target.move_reports(within, &moved)?;
        Ok(())
    }
}

fn refusal(logged: &[&OtherArea]) -> String {
    let called = |area: &&OtherArea| {
        format!("{} ({}, {}: {} entries)", area.id, area.name, area.parent_name, area.entries)
    };
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
