use std::collections::HashSet;

use super::{ExtraArea, Import, ReportLocation, Target};
use crate::data::folder::FolderFile;
use crate::model::{AreaId, Position};
use crate::stores::{OpenError, RemovedRows, Replace};

const SHOWN: usize = 5;

/// The changed places that can move stored reports to other areas or cities.
pub(super) struct Changes {
    removed: Vec<AreaId>,
    /// Whether a city is new or has changed.
    cities: bool,
}

impl<T: Target> Import<'_, T> {
    pub(super) fn places(&mut self, replace: Replace) -> Result<Changes, OpenError> {
        let mut areas = HashSet::new();
        self.import_file(
            FolderFile::Areas,
            |folder, each| folder.areas(each),
            |import, rows| {
                areas.extend(rows.iter().map(|row| row.value.id));
                import.replace(FolderFile::Areas, rows).map(drop)
            },
        )?;
        self.import_file(
            FolderFile::Regions,
            |folder, each| folder.regions(each),
            |import, rows| import.replace(FolderFile::Regions, rows).map(drop),
        )?;
        let mut cities = false;
        self.import_file(
            FolderFile::Cities,
            |folder, each| folder.cities(each),
            |import, rows| {
                cities |= !import.replace(FolderFile::Cities, rows)?.is_empty();
                Ok(())
            },
        )?;
        let removed = self.remove_extra_areas(&areas, replace)?;
        self.places = self.target.places()?;
        self.infrastructure(&removed)?;
        Ok(Changes { removed, cities })
    }

    /// Removes the stored areas that the folder does not contain, if `replace` allows this. Returns the removed areas.
    fn remove_extra_areas(
        &mut self,
        areas: &HashSet<AreaId>,
        replace: Replace,
    ) -> Result<Vec<AreaId>, OpenError> {
        if replace == Replace::Nothing {
            return Ok(Vec::new());
        }
        if areas.is_empty() {
            let reason =
                "areas.geojson is missing or has no area, so all areas of the store would be removed";
            return Err(reason.into());
        }
        let extra = self.target.extra_areas(areas)?;
        let logged: Vec<_> = extra.iter().filter(|area| area.entries > 0).collect();
        if replace == Replace::Areas && !logged.is_empty() {
            return Err(logged_areas_error(&logged).into());
        }
        let changes = extra.iter().map(|area| area.entries).sum();
        self.summary.removed = RemovedRows { areas: extra.len() as u64, changes };
        let removed: Vec<_> = extra.into_iter().map(|area| area.id).collect();
        if !removed.is_empty() {
            self.target.remove_areas(&removed)?;
        }
        Ok(removed)
    }

    /// Finds new areas for the reports in removed areas and, if cities have changed, new cities for all reports. Counts the
    /// reports whose area or city changes.
    ///
    /// Locks the reports, because a report that another session has located but not stored yet would keep its old area and city.
    pub(super) fn relocate(&mut self, Changes { removed, cities }: &Changes) -> Result<(), OpenError> {
        if removed.is_empty() && !cities {
            return Ok(());
        }
        self.target.lock_reports()?;
        let removed_areas: HashSet<AreaId> = removed.iter().copied().collect();
        let locator = self.places.locator();
        let relocation = |place: Position, stored: &ReportLocation| {
            let located = locator.locate(place);
            let is_removed = stored.0.is_some_and(|area| removed_areas.contains(&area));
            let now = (if is_removed { located.local_area_id } else { stored.0 }, located.city);
            (now != *stored).then_some(now)
        };
        let within = (!cities).then_some(removed.as_slice());
        self.summary.relocated += self.target.move_reports(within, &relocation)?;
        Ok(())
    }
}

fn logged_areas_error(logged: &[&ExtraArea]) -> String {
    let describe = |area: &&ExtraArea| {
        format!("{} ({}, {}: {} entries)", area.id, area.name, area.parent_name, area.entries)
    };
    let mut names: Vec<_> = logged.iter().take(SHOWN).map(describe).collect();
    if logged.len() > SHOWN {
        names.push(format!("{} more", logged.len() - SHOWN));
    }
    format!(
        "areas that the folder does not have are in the log of flood states: {}; nothing was imported. Add them to the \
         folder, or remove them with their log by --replace areas-and-log, after siaga export",
        names.join(", ")
    )
}
