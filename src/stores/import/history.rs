use std::collections::HashSet;

use super::{GaugeReading, Import, Target};
use crate::data::folder::{FolderFile, FolderRow};
use crate::stores::OpenError;

impl<T: Target> Import<'_, T> {
    pub(super) fn gauges(&mut self) -> Result<(), OpenError> {
        let places = self.places.clone();
        let mut gauge_ids = self.target.gauge_ids()?;
        self.import_file(
            FolderFile::Gauges,
            |folder, each| folder.gauges(places.locator(), each),
            |import, rows| {
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
