//! Imports what is on the map, and finds the areas of stored data again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use super::merge::{Compared, Merge, Part};
use crate::datasets::{DatasetError, FolderFile, FolderRow};
use crate::model::{Area, AreaId, AreaSet, Infrastructure, Places, Region};
use crate::stores::file::tables::Row;
use crate::stores::{OpenError, Replace};

/// How many areas a message names.
const SHOWN: usize = 5;

impl Merge<'_> {
    /// Imports areas, provinces, cities and infrastructure.
    pub(super) fn places(&mut self, replace: Replace) -> Result<(), OpenError> {
        let mut areas = self.areas(replace)?;
        areas.sort_by_key(|area| area.id);
        let regions = self.regions(FolderFile::Regions)?;
        let cities = self.regions(FolderFile::Cities)?;
        let before = mem::take(&mut self.stored.places);
        self.stored.places = if self.changed.contains(&Part::Places) {
            let areas = AreaSet::new(areas)?;
            let stored = before.infrastructure().iter().map(|of| Infrastructure::clone(of)).collect();
            Places::new(Arc::new(areas), regions, cities).with_infrastructure(stored)
        } else {
            before
        };
        self.infrastructure()?;
        Ok(())
    }

    /// Returns all areas after the import.
    fn areas(&mut self, replace: Replace) -> Result<Vec<Area>, OpenError> {
        let incoming = self.read(FolderFile::Areas, |folder, _, each| folder.areas(each))?;
        let ids: HashSet<AreaId> = incoming.iter().map(|row| row.value.id).collect();
        let stored = Arc::clone(self.stored.places.areas());
        self.removed =
            if replace == Replace::Nothing { Vec::new() } else { self.others(&stored, &ids, replace)? };
        if !self.removed.is_empty() {
            self.changed.insert(Part::Places);
        }
        let removed: HashSet<_> = self.removed.iter().copied().collect();
        let is_left = |area: &&Area| !ids.contains(&area.id) && !removed.contains(&area.id);
        let mut areas: Vec<Area> = stored.iter().filter(is_left).cloned().collect();
        for FolderRow { value: area, .. } in incoming {
            let known = stored.position(area.id).map(|position| &stored[position]);
            if self.count(FolderFile::Areas, Compared::of(&area, known)) {
                self.changed.insert(Part::Places);
                self.rows.push(Row::Area(Arc::new(area.clone())));
            }
            areas.push(area);
        }
        Ok(areas)
    }

    /// Returns the areas that the folder does not have, and removes their entries of the log.
    fn others(
        &mut self,
        stored: &AreaSet,
        ids: &HashSet<AreaId>,
        replace: Replace,
    ) -> Result<Vec<AreaId>, OpenError> {
        if ids.is_empty() {
            let reason =
                "areas.geojson is missing or has no area, so all areas of the store would be removed";
            return Err(reason.into());
        }
        let others: Vec<&Area> = stored.iter().filter(|area| !ids.contains(&area.id)).collect();
        let mut entries: HashMap<AreaId, u64> = HashMap::new();
        self.stored.flood_log.iter().for_each(|change| *entries.entry(change.area).or_default() += 1);
        let logged: Vec<_> =
            others.iter().filter_map(|area| Some((*area, *entries.get(&area.id)?))).collect();
        if replace == Replace::Areas && !logged.is_empty() {
            return Err(refusal(&logged).into());
        }
        let others: HashSet<AreaId> = others.iter().map(|area| area.id).collect();
        let before = self.stored.flood_log.len();
        self.stored.flood_log.retain(|change| !others.contains(&change.area));
        self.done.removed.changes = (before - self.stored.flood_log.len()) as u64;
        self.done.removed.areas = others.len() as u64;
        Ok(others.into_iter().collect())
    }

    /// Returns all provinces, or all cities, after the import.
    fn regions(&mut self, file: FolderFile) -> Result<Vec<Arc<Region>>, DatasetError> {
        let is_city = file == FolderFile::Cities;
        let places = &self.stored.places;
        let stored = if is_city { places.cities() } else { places.regions() };
        let by_code = stored.iter().map(|region| (region.code.clone(), Arc::clone(region)));
        let mut regions: BTreeMap<String, Arc<Region>> = by_code.collect();
        let incoming = self.read(
            file,
            |folder, _, each| {
                if is_city { folder.cities(each) } else { folder.regions(each) }
            },
        )?;
        for FolderRow { value, .. } in incoming {
            let region = Arc::new(value);
            if self.count(file, Compared::of(&region, regions.get(&region.code))) {
                self.changed.insert(Part::Places);
                if is_city {
                    self.changed.insert(Part::Cities);
                }
                let row = if is_city { Row::City } else { Row::Region };
                self.rows.push(row(Arc::clone(&region)));
                regions.insert(region.code.clone(), region);
            }
        }
        Ok(regions.into_values().collect())
    }

    /// Imports infrastructure, which has no identifier. If a folder has the same piece n times, it is stored n times, and
    /// importing it again adds none.
    fn infrastructure(&mut self) -> Result<(), OpenError> {
        let piece = |of: &Infrastructure| format!("{:?}", (of.kind, &of.name, &of.shape));
        let mut known: HashMap<String, usize> = HashMap::new();
        for of in self.stored.places.infrastructure() {
            *known.entry(piece(of)).or_default() += 1;
        }
        let incoming = self.read(FolderFile::Infrastructure, |folder, places, each| {
            folder.infrastructure(places.locator(), each)
        })?;
        for FolderRow { value: of, .. } in incoming {
            let stored = known.get_mut(&piece(&of)).filter(|times| **times > 0);
            let compared = if stored.is_some() { Compared::Same } else { Compared::New };
            if let Some(times) = stored {
                *times -= 1;
            }
            if self.count(FolderFile::Infrastructure, compared) {
                self.changed.insert(Part::Places);
                self.rows.push(Row::Infrastructure(Arc::new(of)));
            }
        }
        Ok(())
    }

    /// Finds new areas for what lay in removed ones, and counts what is in another area or city now.
    pub(super) fn relocate(&mut self) {
        if self.removed.is_empty() && !self.changed.contains(&Part::Cities) {
            return;
        }
        let removed: HashSet<AreaId> = self.removed.iter().copied().collect();
        let is_gone = |area: Option<AreaId>| area.is_some_and(|area| removed.contains(&area));
        let locator = self.stored.places.locator();
        for report in &mut self.stored.reports {
            let located = locator.locate(report.content.location);
            let area = if is_gone(report.tags.local_area_id) {
                located.local_area_id
            } else {
                report.tags.local_area_id
            };
            if area == report.tags.local_area_id && located.city == report.tags.city {
                continue;
            }
            self.done.relocated += 1;
            self.changed.insert(Part::Reports);
            report.tags.local_area_id = area;
            report.tags.city = located.city;
            self.rows.push(Row::Report(Arc::new(report.clone())));
        }
        let stored = self.stored.places.infrastructure();
        let moved = stored.iter().filter(|of| is_gone(of.tags.local_area_id)).count();
        if moved == 0 {
            return;
        }
        self.done.relocated += moved as u64;
        self.infrastructure_moved = true;
        let again = stored.iter().map(|of| {
            let mut of = Infrastructure::clone(of);
            if is_gone(of.tags.local_area_id) {
                of.tags.local_area_id = locator.locate(of.shape.beginning()).local_area_id;
            }
            Row::Infrastructure(Arc::new(of))
        });
        // What is stored already comes before what is new.
        let again: Vec<_> = again.collect();
        self.rows.splice(0..0, again);
    }
}

fn refusal(logged: &[(&Area, u64)]) -> String {
    let called = |(area, entries): &(&Area, u64)| {
        format!("{} ({}, {}: {entries} entries)", area.id, area.name, area.parent_name)
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
