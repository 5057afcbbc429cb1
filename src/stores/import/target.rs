use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::data::folder::{FolderFile, ReportRow};
use crate::model::{
    Area, AreaId, Card, DisasterType, ErasedReport, FloodChange, Gauge, Infrastructure, ModerationEntry,
    Observation, PartnerPost, Places, Position, Region, ReportContent, ReportDigest, ReportKey, Timestamp,
};
use crate::stores::OpenError;

/// A row that replaces the stored row with the same key.
pub(in crate::stores) trait Record: PartialEq {
    type Key: Clone + Ord;

    fn key(&self) -> Self::Key;
}

/// A reading with the identifier of its gauge.
pub(in crate::stores) type GaugeReading = (String, Observation);

/// Identifies an entry of the moderation log: its time, report and action.
pub(in crate::stores) type EntryId = (Timestamp, ReportKey, &'static str);

impl Record for Area {
    type Key = AreaId;

    fn key(&self) -> AreaId {
        self.id
    }
}

impl Record for Region {
    type Key = String;

    fn key(&self) -> String {
        self.code.clone()
    }
}

impl Record for Gauge {
    type Key = String;

    fn key(&self) -> String {
        self.id.clone()
    }
}

impl Record for GaugeReading {
    type Key = (String, Timestamp);

    fn key(&self) -> Self::Key {
        (self.0.clone(), self.1.observed_at)
    }
}

impl Record for FloodChange {
    type Key = (AreaId, Timestamp);

    fn key(&self) -> Self::Key {
        (self.area, self.at)
    }
}

/// A store during an import. Lookups also find rows that this import has already written.
pub(in crate::stores) trait Target:
    PlaceTarget + HistoryTarget + ReportTarget + SourceTarget
{
    /// The maximum number of rows that an import holds in memory at a time.
    const BATCH: usize;
}

/// Storage of rows of one type. Provinces and cities have the same type, so `file` distinguishes them.
pub(in crate::stores) trait RecordStore<V: Record> {
    /// Calls `each` with every stored row that has one of these keys, in any order.
    fn find(&mut self, file: FolderFile, keys: &[V::Key], each: RowVisitor<'_, V>) -> Result<(), OpenError>;

    /// Writes rows, and replaces the stored rows with the same keys. Each row has a different key.
    fn put(&mut self, file: FolderFile, rows: Vec<V>) -> Result<(), OpenError>;
}

pub(in crate::stores) type RowVisitor<'e, V> = &'e mut dyn FnMut(&V);

pub(in crate::stores) trait PlaceTarget: RecordStore<Area> + RecordStore<Region> {
    /// Returns the stored areas that are not in `areas`. If there are any, locks the flood log until the import ends.
    fn extra_areas(&mut self, areas: &HashSet<AreaId>) -> Result<Vec<ExtraArea>, OpenError>;

    fn remove_areas(&mut self, areas: &[AreaId]) -> Result<(), OpenError>;

    fn places(&mut self) -> Result<Arc<Places>, OpenError>;

    fn put_infrastructure(&mut self, all: Vec<Infrastructure>) -> Result<(), OpenError>;
}

pub(in crate::stores) trait HistoryTarget:
    RecordStore<Gauge> + RecordStore<GaugeReading> + RecordStore<FloodChange>
{
    fn gauge_ids(&mut self) -> Result<HashSet<String>, OpenError>;

    fn newest_changes(&mut self) -> Result<HashMap<AreaId, Timestamp>, OpenError>;

    /// Called after the last row of the flood log was written.
    fn complete_log(&mut self) -> Result<(), OpenError> {
        Ok(())
    }
}

pub(in crate::stores) trait ReportTarget {
    /// Locks reports and cards against other writers until the import ends.
    fn lock_reports(&mut self) -> Result<(), OpenError> {
        Ok(())
    }

    /// Returns the stored or erased reports with these keys.
    fn find_reports(&mut self, keys: &[ReportKey]) -> Result<Vec<ReportIdentity>, OpenError>;

    /// Returns those of `digests` that belong to erased reports.
    fn erased_digests(&mut self, digests: &[ReportDigest]) -> Result<HashSet<ReportDigest>, OpenError>;

    /// Calls `each` with the stored reports that were made at one of these times.
    fn reports_made_at(
        &mut self,
        times: &[Timestamp],
        each: RowVisitor<'_, ReportContent>,
    ) -> Result<(), OpenError>;

    /// Adds new reports, all of them hidden or all of them visible.
    fn add_reports(&mut self, rows: Vec<ReportRow>, hidden: bool) -> Result<(), OpenError>;

    /// Called after the last report. Gives reports without a key the keys that follow the highest key ever used.
    fn complete_reports(&mut self) -> Result<(), OpenError> {
        Ok(())
    }

    fn add_erased(&mut self, rows: Vec<ErasedReport>) -> Result<(), OpenError>;

    /// Calls `moved` with the position and the stored location of each report. If `moved` returns a new location, stores it.
    /// Returns the number of moved reports. With `areas`, it is enough to check the reports in these areas.
    fn move_reports(
        &mut self,
        areas: Option<&[AreaId]>,
        moved: &dyn Fn(Position, &ReportLocation) -> Option<ReportLocation>,
    ) -> Result<u64, OpenError>;

    /// Returns those of `entries` that the moderation log contains.
    fn find_entries(&mut self, entries: &[EntryId]) -> Result<HashSet<EntryId>, OpenError>;

    /// Appends entries to the moderation log, and numbers them.
    fn add_entries(&mut self, rows: Vec<ModerationEntry>) -> Result<(), OpenError>;
}

/// Storage of the cards and posts that reports came from.
pub(in crate::stores) trait SourceTarget {
    fn find_cards(&mut self, ids: &[&str], numbers: &[u64]) -> Result<Vec<Card>, OpenError>;

    /// Writes new cards, and stored cards whose report is new. Nothing else of a stored card may differ.
    fn put_cards(&mut self, rows: Vec<Card>) -> Result<(), OpenError>;

    fn find_posts(&mut self, ids: &[i64]) -> Result<Vec<PartnerPost>, OpenError>;

    /// Adds posts. The caller ensures that no stored post has one of their identifiers or reports.
    fn add_posts(&mut self, rows: Vec<PartnerPost>) -> Result<(), OpenError>;
}

/// A stored area that the imported folder does not contain.
#[derive(Clone, Debug)]
pub(in crate::stores) struct ExtraArea {
    pub(in crate::stores) id: AreaId,
    pub(in crate::stores) name: String,
    pub(in crate::stores) parent_name: String,
    /// The number of entries of the area in the log of flood states.
    pub(in crate::stores) entries: u64,
}

/// Identifies a stored or erased report.
#[derive(Clone, Debug)]
pub(in crate::stores) struct ReportIdentity {
    pub(in crate::stores) key: ReportKey,
    pub(in crate::stores) created_at: Timestamp,
    pub(in crate::stores) source: Box<str>,
    pub(in crate::stores) disaster_type: DisasterType,
    /// `None` if the report was erased.
    pub(in crate::stores) location: Option<Position>,
    /// Whether a card or a partner post already refers to the report.
    pub(in crate::stores) is_used: bool,
}

/// The local area and the city in which a report lies.
pub(in crate::stores) type ReportLocation = (Option<AreaId>, Option<Box<str>>);
