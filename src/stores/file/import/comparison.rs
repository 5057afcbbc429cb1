use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use sqlx::SqliteConnection;

use crate::data::folder::{Dataset, FolderFile};
use crate::model::{Area, AreaId, AreaSet, FloodChange, Gauge, Infrastructure, Places, Region, Timestamp};
use crate::stores::file::contents::Counts;
use crate::stores::file::error::FileError;
use crate::stores::file::tables::{self, Row};
use crate::stores::import::{
    ExtraArea, GaugeReading, HistoryTarget, PlaceTarget, RecordStore, RowVisitor, Target,
};
use crate::stores::{OpenError, Revision};

/// The stored data, and the rows in which it differs from a folder.
pub(super) struct Comparison {
    pub(super) stored: Dataset,
    /// The stored places, which `places` replaces by the places after the import.
    places: Arc<Places>,
    pub(super) rows: Vec<Row>,
    /// The areas to be removed, with their logs.
    removed: Vec<AreaId>,
    /// If true, the import removes all stored infrastructure, and `rows` contains all new infrastructure.
    is_infrastructure_new: bool,
    pub(super) changed: BTreeSet<Part>,
}

/// The parts of the data that an import can change. They determine which revisions grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Places,
    Floods,
    Reports,
    Gauges,
    /// Cards or posts, which belong to no resource and have no revision.
    Others,
}

impl Comparison {
    pub(super) fn new(mut stored: Dataset) -> Self {
        Self {
            places: Arc::new(mem::take(&mut stored.places)),
            stored,
            rows: Vec::new(),
            removed: Vec::new(),
            is_infrastructure_new: false,
            changed: BTreeSet::new(),
        }
    }

    /// Whether everything in the folder is already stored.
    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    pub(super) async fn write(&self, counts: Counts, to: &mut SqliteConnection) -> Result<(), FileError> {
        for area in &self.removed {
            tables::remove_area(to, *area).await?;
        }
        if self.is_infrastructure_new {
            tables::remove_infrastructure(to).await?;
        }
        for row in &self.rows {
            row.write(to).await?;
        }
        self.updated(counts).write(to).await
    }

    /// Returns the counts after the import. New places also increase the revisions of floods and reports, which contain places.
    fn updated(&self, counts: Counts) -> Counts {
        let next_revision = |revision: Revision, by: &[Part]| {
            Revision(revision.0 + u64::from(by.iter().any(|part| self.changed.contains(part))))
        };
        let mut updated = counts;
        updated.commits = counts.commits.wrapping_add(1);
        updated.revisions.places = next_revision(counts.revisions.places, &[Part::Places]);
        updated.revisions.floods = next_revision(counts.revisions.floods, &[Part::Places, Part::Floods]);
        updated.revisions.reports = next_revision(counts.revisions.reports, &[Part::Places, Part::Reports]);
        updated.revisions.gauges = next_revision(counts.revisions.gauges, &[Part::Gauges]);
        updated
    }

    pub(super) fn add(&mut self, part: Part, rows: impl IntoIterator<Item = Row>) {
        self.changed.insert(part);
        self.rows.extend(rows);
    }
}

impl RecordStore<Area> for Comparison {
    fn find(&mut self, _: FolderFile, ids: &[AreaId], each: RowVisitor<'_, Area>) -> Result<(), OpenError> {
        let areas = self.places.areas();
        ids.iter().filter_map(|id| areas.find(*id)).for_each(each);
        Ok(())
    }

    fn put(&mut self, _: FolderFile, rows: Vec<Area>) -> Result<(), OpenError> {
        self.add(Part::Places, rows.into_iter().map(|area| Row::Area(Arc::new(area))));
        Ok(())
    }
}

impl RecordStore<Region> for Comparison {
    fn find(
        &mut self,
        file: FolderFile,
        codes: &[String],
        each: RowVisitor<'_, Region>,
    ) -> Result<(), OpenError> {
        let is_city = file == FolderFile::Cities;
        let regions = if is_city { self.places.cities() } else { self.places.regions() };
        let codes: HashSet<_> = codes.iter().collect();
        regions.iter().filter(|region| codes.contains(&region.code)).for_each(|region| each(region));
        Ok(())
    }

    fn put(&mut self, file: FolderFile, rows: Vec<Region>) -> Result<(), OpenError> {
        let row = if file == FolderFile::Cities { Row::City } else { Row::Region };
        self.add(Part::Places, rows.into_iter().map(|region| row(Arc::new(region))));
        Ok(())
    }
}

impl RecordStore<Gauge> for Comparison {
    fn find(&mut self, _: FolderFile, ids: &[String], each: RowVisitor<'_, Gauge>) -> Result<(), OpenError> {
        let ids: HashSet<_> = ids.iter().collect();
        let stored = self.stored.gauges.iter().map(|observed| &observed.gauge);
        stored.filter(|gauge| ids.contains(&gauge.id)).for_each(|gauge| each(gauge));
        Ok(())
    }

    fn put(&mut self, _: FolderFile, rows: Vec<Gauge>) -> Result<(), OpenError> {
        self.add(Part::Gauges, rows.into_iter().map(|gauge| Row::Gauge(Arc::new(gauge))));
        Ok(())
    }
}

impl RecordStore<GaugeReading> for Comparison {
    fn find(
        &mut self,
        _: FolderFile,
        keys: &[(String, Timestamp)],
        each: RowVisitor<'_, GaugeReading>,
    ) -> Result<(), OpenError> {
        let gauges =
            self.stored.gauges.iter().map(|observed| (observed.gauge.id.as_str(), &observed.observations));
        let gauges: HashMap<_, _> = gauges.collect();
        for (gauge, at) in keys {
            let Some(readings) = gauges.get(gauge.as_str()) else { continue };
            // Readings are sorted by time.
            if let Ok(index) = readings.binary_search_by_key(at, |reading| reading.observed_at) {
                each(&(gauge.clone(), readings[index].clone()));
            }
        }
        Ok(())
    }

    fn put(&mut self, _: FolderFile, rows: Vec<GaugeReading>) -> Result<(), OpenError> {
        let rows = rows.into_iter().map(|(gauge, reading)| Row::Reading(gauge.into(), reading));
        self.add(Part::Gauges, rows);
        Ok(())
    }
}

impl RecordStore<FloodChange> for Comparison {
    fn find(
        &mut self,
        _: FolderFile,
        keys: &[(AreaId, Timestamp)],
        each: RowVisitor<'_, FloodChange>,
    ) -> Result<(), OpenError> {
        let keys: HashSet<_> = keys.iter().copied().collect();
        let log = self.stored.flood_log.iter();
        log.filter(|change| keys.contains(&(change.area, change.at))).for_each(each);
        Ok(())
    }

    fn put(&mut self, _: FolderFile, rows: Vec<FloodChange>) -> Result<(), OpenError> {
        self.add(Part::Floods, rows.into_iter().map(Row::FloodState));
        Ok(())
    }
}

impl Target for Comparison {
    /// No limit, because the whole database file and each file of the folder are in memory anyway.
    const BATCH: usize = usize::MAX;
}

impl PlaceTarget for Comparison {
    fn extra_areas(&mut self, areas: &HashSet<AreaId>) -> Result<Vec<ExtraArea>, OpenError> {
        let mut entries: HashMap<AreaId, u64> = HashMap::new();
        self.stored.flood_log.iter().for_each(|change| *entries.entry(change.area).or_default() += 1);
        let extra = self.places.areas().iter().filter(|area| !areas.contains(&area.id));
        let extra_area = |area: &Area| ExtraArea {
            id: area.id,
            name: area.name.clone(),
            parent_name: area.parent_name.clone(),
            entries: entries.get(&area.id).copied().unwrap_or_default(),
        };
        Ok(extra.map(extra_area).collect())
    }

    fn remove_areas(&mut self, areas: &[AreaId]) -> Result<(), OpenError> {
        let removed: HashSet<_> = areas.iter().collect();
        self.stored.flood_log.retain(|change| !removed.contains(&change.area));
        self.removed = areas.to_vec();
        self.changed.insert(Part::Places);
        Ok(())
    }

    fn places(&mut self) -> Result<Arc<Places>, OpenError> {
        if !self.changed.contains(&Part::Places) {
            return Ok(Arc::clone(&self.places));
        }
        let by_code = |regions: &[Arc<Region>]| -> BTreeMap<String, Arc<Region>> {
            regions.iter().map(|region| (region.code.clone(), Arc::clone(region))).collect()
        };
        let (mut regions, mut cities) = (by_code(self.places.regions()), by_code(self.places.cities()));
        let mut new_areas = HashMap::new();
        for row in &self.rows {
            match row {
                Row::Area(area) => drop(new_areas.insert(area.id, area)),
                Row::Region(region) => drop(regions.insert(region.code.clone(), Arc::clone(region))),
                Row::City(city) => drop(cities.insert(city.code.clone(), Arc::clone(city))),
                _ => {}
            }
        }
        let removed: HashSet<_> = self.removed.iter().collect();
        let is_kept = |area: &&Area| !new_areas.contains_key(&area.id) && !removed.contains(&area.id);
        let kept = self.places.areas().iter().filter(is_kept).cloned();
        let areas = kept.chain(new_areas.values().map(|area| Area::clone(area))).collect();
        let infrastructure = self.places.infrastructure().iter().map(|piece| Infrastructure::clone(piece));
        let (regions, cities) = (regions.into_values().collect(), cities.into_values().collect());
        let places = Places::new(Arc::new(AreaSet::new(areas)?), regions, cities);
        self.places = Arc::new(places.with_infrastructure(infrastructure.collect()));
        Ok(Arc::clone(&self.places))
    }

    fn put_infrastructure(&mut self, pieces: Vec<Infrastructure>) -> Result<(), OpenError> {
        self.is_infrastructure_new = true;
        self.add(Part::Places, pieces.into_iter().map(|piece| Row::Infrastructure(Arc::new(piece))));
        Ok(())
    }
}

impl HistoryTarget for Comparison {
    fn gauge_ids(&mut self) -> Result<HashSet<String>, OpenError> {
        Ok(self.stored.gauges.iter().map(|observed| observed.gauge.id.clone()).collect())
    }

    fn newest_changes(&mut self) -> Result<HashMap<AreaId, Timestamp>, OpenError> {
        // The log is in ascending order, so the newest change of an area replaces the earlier ones.
        Ok(self.stored.flood_log.iter().map(|change| (change.area, change.at)).collect())
    }
}
