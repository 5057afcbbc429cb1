//! Imports gauges with their readings, and the log of flood states.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::merge::{Compared, Merge, Part};
use crate::datasets::{DatasetError, FolderFile, FolderRow};
use crate::model::{AreaId, FloodChange, Gauge, Observation, Timestamp};
use crate::stores::file::tables::Row;

impl Merge<'_> {
    pub(super) fn gauges(&mut self) -> Result<(), DatasetError> {
        let mut known: HashMap<String, Arc<Gauge>> =
            self.stored.gauges.iter().map(|of| (of.gauge.id.clone(), Arc::clone(&of.gauge))).collect();
        let incoming =
            self.read(FolderFile::Gauges, |folder, places, each| folder.gauges(places.locator(), each))?;
        for FolderRow { value, .. } in incoming {
            let gauge = Arc::new(value);
            if self.count(FolderFile::Gauges, Compared::of(&gauge, known.get(&gauge.id))) {
                self.changed.insert(Part::Gauges);
                self.rows.push(Row::Gauge(Arc::clone(&gauge)));
            }
            known.insert(gauge.id.clone(), gauge);
        }
        self.gauge_readings(&known)
    }

    /// If a gauge has several readings with the same time, the last one counts.
    fn gauge_readings(&mut self, gauges: &HashMap<String, Arc<Gauge>>) -> Result<(), DatasetError> {
        let incoming = self.read(FolderFile::GaugeReadings, |folder, _, each| {
            folder.gauge_readings(&|id| gauges.contains_key(id), each)
        })?;
        let mut latest: BTreeMap<(Arc<str>, Timestamp), Observation> = BTreeMap::new();
        for FolderRow { value: (gauge, reading), .. } in incoming {
            latest.insert((gauge.into(), reading.observed_at), reading);
        }
        let stored: HashMap<String, Vec<Observation>> =
            self.stored.gauges.iter().map(|of| (of.gauge.id.clone(), of.observations.clone())).collect();
        for ((gauge, at), reading) in latest {
            let readings = stored.get(&*gauge).map_or(&[][..], Vec::as_slice);
            // They ascend.
            let found = readings.binary_search_by_key(&at, |reading| reading.observed_at);
            let known = found.ok().and_then(|index| readings.get(index));
            if self.count(FolderFile::GaugeReadings, Compared::of(&reading, known)) {
                self.changed.insert(Part::Gauges);
                self.rows.push(Row::Reading(gauge, reading));
            }
        }
        Ok(())
    }

    /// If an area has several changes with the same time, the last one counts.
    pub(super) fn flood_states(&mut self) -> Result<(), DatasetError> {
        let now = self.now;
        let incoming = self.read(FolderFile::FloodStates, |folder, places, each| {
            folder.flood_states(places.areas(), now, each)
        })?;
        let mut latest: BTreeMap<(AreaId, Timestamp), FloodChange> = BTreeMap::new();
        for FolderRow { value: change, .. } in incoming {
            latest.insert((change.area, change.at), change);
        }
        let (mut newest, mut known) = (HashMap::new(), HashMap::new());
        for change in &self.stored.flood_log {
            // The log ascends.
            newest.insert(change.area, change.at);
            known.insert((change.area, change.at), change);
        }
        let mut rewritten: HashSet<AreaId> = HashSet::new();
        let compared: Vec<_> = latest
            .into_iter()
            .map(|(key, change)| (Compared::of(&&change, known.get(&key)), change.clone()))
            .collect();
        for (compared, change) in compared {
            if compared != Compared::Same
                && newest.get(&change.area).is_some_and(|newest| change.at <= *newest)
            {
                rewritten.insert(change.area);
            }
            if self.count(FolderFile::FloodStates, compared) {
                self.changed.insert(Part::Floods);
                self.rows.push(Row::FloodState(change));
            }
        }
        self.done.rewritten = rewritten.len() as u64;
        Ok(())
    }
}
