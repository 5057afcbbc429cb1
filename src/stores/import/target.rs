use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::data::folder::{FolderFile, ReportRow};
use crate::model::{
    Area, AreaId, Card, DisasterType, ErasedReport, FloodChange, Gauge, Infrastructure, ModerationEntry,
    Observation, PartnerPost, Places, Position, Region, ReportContent, ReportDigest, ReportKey, Timestamp,
};
use crate::stores::OpenError;

/// A row that replaces the stored one with the same key.
pub(in crate::stores) trait Record: PartialEq {
    type Key: Clone + Ord;

    fn key(&self) -> Self::Key;
}

/// A reading of the gauge with this identifier.
pub(in crate::stores) type GaugeReading = (String, Observation);

/// The time, the report and the name of the action identify an entry of the moderation log.
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

/// A store during an import. Lookups for a later batch or file also find what the import has written before.
pub(in crate::stores) trait Target:
    KeepsPlaces + KeepsHistory + KeepsReports + KeepsSources
{
    /// How many rows of a file are in memory at a time.
    const BATCH: usize;
}

/// Keeps rows of one kind. The file tells provinces from cities.
pub(in crate::stores) trait Keeps<V: Record> {
    /// Passes on the stored rows with these keys, in any order.
    fn stored(&mut self, file: FolderFile, keys: &[V::Key], each: Each<'_, V>) -> Result<(), OpenError>;

    /// Writes rows with different keys, each in place of the stored row with its key, if any.
    fn put(&mut self, file: FolderFile, rows: Vec<V>) -> Result<(), OpenError>;
}

/// A function that takes stored rows.
pub(in crate::stores) type Each<'e, V> = &'e mut dyn FnMut(&V);

pub(in crate::stores) trait KeepsPlaces: Keeps<Area> + Keeps<Region> {
    /// Returns the stored areas other than these. If there are any, nobody else adds to the log until the import ends.
    fn other_areas(&mut self, areas: &HashSet<AreaId>) -> Result<Vec<OtherArea>, OpenError>;

    /// Removes areas with their logs.
    fn remove_areas(&mut self, areas: &[AreaId]) -> Result<(), OpenError>;

    /// Returns all places.
    fn places(&mut self) -> Result<Arc<Places>, OpenError>;

    /// Writes all infrastructure, in place of what is stored.
    fn put_infrastructure(&mut self, all: Vec<Infrastructure>) -> Result<(), OpenError>;
}

pub(in crate::stores) trait KeepsHistory:
    Keeps<Gauge> + Keeps<GaugeReading> + Keeps<FloodChange>
{
    /// Returns the identifiers of all gauges.
    fn gauge_ids(&mut self) -> Result<HashSet<String>, OpenError>;

    /// Returns when the newest change of each area was made.
    fn newest_changes(&mut self) -> Result<HashMap<AreaId, Timestamp>, OpenError>;

    /// Completes the log after its last row.
    fn complete_log(&mut self) -> Result<(), OpenError> {
        Ok(())
    }
}

pub(in crate::stores) trait KeepsReports {
    /// From here on, nobody else adds reports or cards until the import ends.
    fn lock_reports(&mut self) -> Result<(), OpenError> {
        Ok(())
    }

    /// Returns the reports with these keys, including what is left of erased ones.
    fn known_reports(&mut self, keys: &[ReportKey]) -> Result<Vec<KnownReport>, OpenError>;

    /// Returns which of these digests are those of erased reports.
    fn erased_digests(&mut self, digests: &[ReportDigest]) -> Result<HashSet<ReportDigest>, OpenError>;

    /// Passes on the reports that were made at one of these times.
    fn reports_made_at(
        &mut self,
        times: &[Timestamp],
        each: Each<'_, ReportContent>,
    ) -> Result<(), OpenError>;

    /// Adds reports that are not stored. Either all of them are hidden or none.
    fn add_reports(&mut self, rows: Vec<ReportRow>, hidden: bool) -> Result<(), OpenError>;

    /// Completes the reports after the last one was added. Those without a key get the keys after the highest one that any
    /// report has or had.
    fn complete_reports(&mut self) -> Result<(), OpenError> {
        Ok(())
    }

    /// Adds what is left of reports that are not stored.
    fn add_erased(&mut self, rows: Vec<ErasedReport>) -> Result<(), OpenError>;

    /// Passes on where each report was made and lies, and writes where else it lies now, if `moved` finds that. Returns
    /// how many have moved. Only those in `areas` can have, if these are given.
    fn move_reports(
        &mut self,
        areas: Option<&[AreaId]>,
        moved: &dyn Fn(Position, &Lies) -> Option<Lies>,
    ) -> Result<u64, OpenError>;

    /// Returns which of these entries the moderation log has.
    fn logged(&mut self, entries: &[EntryId]) -> Result<HashSet<EntryId>, OpenError>;

    /// Adds entries to the end of the moderation log, and numbers them.
    fn add_entries(&mut self, rows: Vec<ModerationEntry>) -> Result<(), OpenError>;
}

/// Keeps the cards and posts that reports came from.
pub(in crate::stores) trait KeepsSources {
    /// Returns the cards that have one of these identifiers or numbers.
    fn stored_cards(&mut self, ids: &[&str], numbers: &[u64]) -> Result<Vec<Card>, OpenError>;

    /// Writes cards. A stored card can only have got its report.
    fn put_cards(&mut self, rows: Vec<Card>) -> Result<(), OpenError>;

    /// Returns the posts that have one of these identifiers.
    fn stored_posts(&mut self, ids: &[i64]) -> Result<Vec<PartnerPost>, OpenError>;

    /// Adds posts with identifiers and reports that no other post has.
    fn add_posts(&mut self, rows: Vec<PartnerPost>) -> Result<(), OpenError>;
}

/// A stored area that a folder does not have.
#[derive(Clone, Debug)]
pub(in crate::stores) struct OtherArea {
    pub(in crate::stores) id: AreaId,
    pub(in crate::stores) name: String,
    pub(in crate::stores) parent_name: String,
    /// How many entries it has in the log of flood states.
    pub(in crate::stores) entries: u64,
}

/// What identifies a report that is stored, or was erased.
#[derive(Clone, Debug)]
pub(in crate::stores) struct KnownReport {
    pub(in crate::stores) key: ReportKey,
    pub(in crate::stores) created_at: Timestamp,
    pub(in crate::stores) source: Box<str>,
    pub(in crate::stores) disaster_type: DisasterType,
    /// Where it was made; `None` if it was erased.
    pub(in crate::stores) location: Option<Position>,
    /// Whether it came from a card or post.
    pub(in crate::stores) is_used: bool,
}

/// The area and the city in which a report lies.
pub(in crate::stores) type Lies = (Option<AreaId>, Option<Box<str>>);
