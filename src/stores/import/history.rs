use std::collections::{HashMap, HashSet};

use super::{GaugeReading, Import, Target};
use crate::data::folder::{FolderFile, FolderRow};
use crate::model::{Gauge, Mute};
use crate::stores::OpenError;

impl<T: Target> Import<'_, T> {
    pub(super) fn gauges(&mut self) -> Result<(), OpenError> {
        let places = self.places.clone();
        let mut gauge_ids = self.target.gauge_ids()?;
        self.import_file(
            FolderFile::Gauges,
            |folder, each| folder.gauges(places.locator(), each),
            |import, mut rows: Vec<FolderRow<Gauge>>| {
                import.keep_newer_mutes(&mut rows)?;
                gauge_ids.extend(import.replace(FolderFile::Gauges, rows)?);
                Ok(())
            },
        )?;
        self.import_file(
            FolderFile::GaugeReadings,
            |folder, each| folder.gauge_readings(&|id| gauge_ids.contains(id), each),
            |import, rows: Vec<FolderRow<GaugeReading>>| {
                import.replace(FolderFile::GaugeReadings, rows).map(drop)
            },
        )
    }

    /// A folder knows no later entries of the logs than its export.
    fn keep_newer_mutes(&mut self, rows: &mut [FolderRow<Gauge>]) -> Result<(), OpenError> {
        let ids: Vec<_> = rows.iter().map(|row| row.value.id.clone()).collect();
        let mut stored: HashMap<String, Mute> = HashMap::new();
        self.target.find(FolderFile::Gauges, &ids, &mut |gauge: &Gauge| {
            stored.extend(gauge.mute.clone().map(|mute| (gauge.id.clone(), mute)));
        })?;
        for row in rows {
            let Some(stored) = stored.get(&row.value.id) else { continue };
            if row.value.mute.as_ref().is_none_or(|mute| mute.at <= stored.at) {
                row.value.mute = Some(stored.clone());
            }
        }
        Ok(())
    }

    /// Imports the log of flood states. Counts the areas whose past it changes (entries up to the newest stored one).
    pub(super) fn flood_states(&mut self) -> Result<(), OpenError> {
        let (places, now) = (self.places.clone(), self.now);
        let newest = self.target.newest_changes()?;
        let mut rewritten = HashSet::new();
        self.import_file(
            FolderFile::FloodStates,
            |folder, each| folder.flood_states(places.areas(), now, each),
            |import, rows| {
                let changes = import.replace(FolderFile::FloodStates, rows)?;
                let is_old = |(area, at): &(_, _)| newest.get(area).is_some_and(|newest| at <= newest);
                rewritten.extend(changes.into_iter().filter(is_old).map(|(area, _)| area));
                Ok(())
            },
        )?;
        self.summary.rewritten = rewritten.len() as u64;
        self.target.complete_log()
    }
}
