//! Reads a whole folder into memory as a data set, and writes a data set into a folder.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::{
    CsvWriter, DatasetError, Folder, FolderFile, FolderRow, FolderWriter, GeoJsonWriter, ReportRow,
    WriteError,
};
use crate::model::{
    Area, AreaId, AreaSet, Card, ErasedReport, FloodChange, Gauge, Infrastructure, Locator, ModerationEntry,
    Observation, ObservedGauge, PartnerPost, Places, Region, Report, ReportDigest, ReportKey, Timestamp,
};

/// The content of a store. The flood log refers only to areas of `places`.
#[derive(Debug, Default)]
pub struct Dataset {
    /// Areas, regions, cities and infrastructure.
    pub places: Places,
    /// Every change of a flood state, oldest first. The newest one of an area is its current state.
    pub flood_log: Vec<FloodChange>,
    /// Gauges with all their readings.
    pub gauges: Vec<ObservedGauge>,
    /// Reports with unique keys, including hidden ones.
    pub reports: Vec<Report>,
    /// The hidden reports.
    pub hidden: BTreeSet<ReportKey>,
    /// Records of erased reports, without their content.
    pub erased: Vec<ErasedReport>,
    /// The moderation log, oldest first.
    pub moderation: Vec<ModerationEntry>,
    /// Cards with unique identifiers.
    pub cards: Vec<Card>,
    /// Posts of the partner feed with unique identifiers.
    pub partner_posts: Vec<PartnerPost>,
}

impl Dataset {
    /// Writes the data set as a folder that [`load`](Self::load) reads back as the same data set.
    ///
    /// # Errors
    ///
    /// [`WriteError`] with the file and the cause.
    pub fn save(&self, folder: &FolderWriter) -> Result<(), WriteError> {
        folder.places(&self.places)?;
        let (mut gauges, mut readings) = (folder.gauges()?, folder.gauge_readings()?);
        for observed in &self.gauges {
            gauges.write(&observed.gauge)?;
            observed
                .observations
                .iter()
                .try_for_each(|reading| readings.write(&observed.gauge.id, reading))?;
        }
        gauges.finish()?;
        readings.finish()?;
        write_all(folder.flood_states()?, &self.flood_log, CsvWriter::<FloodChange>::write)?.finish()?;
        write_all(folder.erased_reports()?, &self.erased, CsvWriter::<ErasedReport>::write)?.finish()?;
        let (mut reports, mut hidden) = (folder.reports()?, folder.hidden_reports()?);
        for report in &self.reports {
            let file = if self.hidden.contains(&report.key) { &mut hidden } else { &mut reports };
            file.write(report)?;
        }
        reports.finish()?;
        hidden.finish()?;
        write_all(folder.cards()?, &self.cards, CsvWriter::<Card>::write)?.finish()?;
        write_all(folder.partner_posts()?, &self.partner_posts, CsvWriter::<PartnerPost>::write)?.finish()?;
        write_all(folder.moderation_log()?, &self.moderation, CsvWriter::<ModerationEntry>::write)?.finish()
    }
}

/// Reads the whole folder. `now` is the latest time allowed in the flood log.
pub(crate) fn dataset(folder: &Folder, now: Timestamp) -> Result<Dataset, DatasetError> {
    let places = places(folder)?;
    let flood_log = flood_log(folder, places.areas(), now)?;
    let gauges = gauges(folder, places.locator())?;
    let erased = collect(|each| folder.erased_reports(each))?;
    let (reports, hidden) = reports(folder, places.locator(), &erased)?;
    let erased_keys: HashSet<ReportKey> = erased.iter().map(|erased| erased.key).collect();
    let keys: HashSet<ReportKey> = reports.iter().map(|report| report.key).collect();
    let cards = cards(folder, &keys, &erased_keys)?;
    let partner_posts = partner_posts(folder, &keys.union(&erased_keys).copied().collect())?;
    let moderation = collect(|each| folder.moderation_log(each))?;
    Ok(Dataset { places, flood_log, gauges, reports, hidden, erased, moderation, cards, partner_posts })
}

impl FolderWriter {
    /// Writes the files of areas, regions, cities and infrastructure.
    pub fn places(&self, places: &Places) -> Result<(), WriteError> {
        write_all(self.areas()?, places.areas().iter(), GeoJsonWriter::<Area>::write)?.finish()?;
        for (writer, regions) in [(self.regions()?, places.regions()), (self.cities()?, places.cities())] {
            write_all(writer, regions.iter().map(Arc::as_ref), GeoJsonWriter::<Region>::write)?.finish()?;
        }
        let infrastructure = places.infrastructure().iter().map(Arc::as_ref);
        write_all(self.infrastructure()?, infrastructure, GeoJsonWriter::<Infrastructure>::write)?.finish()
    }
}

/// Writes all rows. The caller must finish the returned writer.
fn write_all<'r, W, T: 'r>(
    mut writer: W,
    rows: impl IntoIterator<Item = &'r T>,
    write: fn(&mut W, &T) -> Result<(), WriteError>,
) -> Result<W, WriteError> {
    rows.into_iter().try_for_each(|row| write(&mut writer, row))?;
    Ok(writer)
}

type Sink<'s, T> = &'s mut dyn FnMut(FolderRow<T>) -> Result<(), DatasetError>;

pub(super) fn collect<T>(
    read: impl FnOnce(Sink<'_, T>) -> Result<(), DatasetError>,
) -> Result<Vec<T>, DatasetError> {
    let mut values = Vec::new();
    read(&mut |row| {
        values.push(row.value);
        Ok(())
    })?;
    Ok(values)
}

fn areas(folder: &Folder) -> Result<AreaSet, DatasetError> {
    let areas = collect(|each| folder.areas(each))?;
    AreaSet::new(areas).map_err(|duplicate| folder.fault(FolderFile::Areas, 1, duplicate.to_string()))
}

pub(super) fn places(folder: &Folder) -> Result<Places, DatasetError> {
    let shared = |regions: Vec<Region>| regions.into_iter().map(Arc::new).collect();
    let regions = shared(collect(|each| folder.regions(each))?);
    let cities = shared(collect(|each| folder.cities(each))?);
    let places = Places::new(Arc::new(areas(folder)?), regions, cities);
    let infrastructure = collect(|each| folder.infrastructure(places.locator(), each))?;
    Ok(places.with_infrastructure(infrastructure))
}

/// Returns the log, oldest first. If an area has several entries with the same time, keeps the last one in the file.
fn flood_log(folder: &Folder, areas: &AreaSet, now: Timestamp) -> Result<Vec<FloodChange>, DatasetError> {
    let mut log = collect(|each| folder.flood_states(areas, now, each))?;
    log.sort_by_key(|change| change.at);
    let mut seen: HashSet<(AreaId, Timestamp)> = HashSet::with_capacity(log.len());
    log.reverse();
    log.retain(|change| seen.insert((change.area, change.at)));
    log.reverse();
    Ok(log)
}

/// Returns the gauges, sorted by identifier, with readings oldest first. If readings have the same time, keeps the last one.
fn gauges(folder: &Folder, locator: &Locator) -> Result<Vec<ObservedGauge>, DatasetError> {
    let mut gauges: BTreeMap<String, Gauge> = BTreeMap::new();
    folder.gauges(locator, |row: FolderRow<Gauge>| {
        gauges.insert(row.value.id.clone(), row.value);
        Ok::<_, DatasetError>(())
    })?;
    let mut readings: BTreeMap<String, BTreeMap<Timestamp, Observation>> = BTreeMap::new();
    folder.gauge_readings(&|id| gauges.contains_key(id), |row: FolderRow<(String, Observation)>| {
        let (gauge, reading) = row.value;
        readings.entry(gauge).or_default().insert(reading.observed_at, reading);
        Ok::<_, DatasetError>(())
    })?;
    let observed = gauges.into_iter().map(|(id, gauge)| {
        let observations = readings.remove(&id).unwrap_or_default().into_values().collect();
        ObservedGauge::new(Arc::new(gauge), observations)
    });
    Ok(observed.collect())
}

/// Returns all reports that are not erased, and the keys of the hidden ones. Reports without a key get keys after the highest.
fn reports(
    folder: &Folder,
    locator: &Locator,
    erased: &[ErasedReport],
) -> Result<(Vec<Report>, BTreeSet<ReportKey>), DatasetError> {
    let keys: HashSet<ReportKey> = erased.iter().map(|erased| erased.key).collect();
    let digests: HashSet<ReportDigest> = erased.iter().map(|erased| erased.digest).collect();
    let mut rows = collect(|each| folder.hidden_reports(locator, each))?;
    let hidden: BTreeSet<ReportKey> = rows.iter().filter_map(|row| row.key).collect();
    folder.reports(locator, |FolderRow { line, value: row }: FolderRow<ReportRow>| {
        if let Some(key) = row.key.filter(|key| hidden.contains(key)) {
            let reason = format!("pkey {key} is that of a report in {} already", FolderFile::HiddenReports);
            return Err(folder.fault(FolderFile::Reports, line, reason));
        }
        rows.push(row);
        Ok(())
    })?;
    let is_erased = |row: &ReportRow| {
        row.key.is_some_and(|key| keys.contains(&key)) || digests.contains(&ReportDigest::new(&row.content))
    };
    let mut last = rows.iter().filter_map(|row| row.key).chain(keys.iter().copied()).max();
    rows.retain(|row| !is_erased(row));
    let keyed = rows.into_iter().map(|row| {
        let key = row.key.or_else(|| {
            last = last.map_or(Some(ReportKey::FIRST), ReportKey::next);
            last
        });
        let none_left = || folder.fault(FolderFile::Reports, 1, "no pkey is left after the highest");
        Ok(Report { key: key.ok_or_else(none_left)?, content: row.content, tags: row.tags })
    });
    let reports: Vec<Report> = keyed.collect::<Result<_, DatasetError>>()?;
    let hidden_keys = reports.iter().map(|report| report.key).filter(|key| hidden.contains(key)).collect();
    Ok((reports, hidden_keys))
}

/// Returns the cards. Leaves out cards of erased reports. A card that refers to an unknown report is a fault.
pub(super) fn cards(
    folder: &Folder,
    reports: &HashSet<ReportKey>,
    erased: &HashSet<ReportKey>,
) -> Result<Vec<Card>, DatasetError> {
    let mut cards = Vec::new();
    folder.cards(|FolderRow { line, value: card }: FolderRow<Card>| {
        if card.report.is_some_and(|key| erased.contains(&key)) {
            return Ok(());
        }
        if let Some(key) = card.report.filter(|key| !reports.contains(key)) {
            return folder.skip_fault(folder.fault(
                FolderFile::Cards,
                line,
                format!("report {key} is no known report"),
            ));
        }
        cards.push(card);
        Ok(())
    })?;
    Ok(cards)
}

/// Reads the posts of the partner feed. A post whose report is not in `reports` is a fault.
pub(super) fn partner_posts(
    folder: &Folder,
    reports: &HashSet<ReportKey>,
) -> Result<Vec<PartnerPost>, DatasetError> {
    let mut posts = Vec::new();
    folder.partner_posts(|FolderRow { line, value: post }: FolderRow<PartnerPost>| {
        if !reports.contains(&post.report) {
            let reason = format!("pkey {} is no known report", post.report);
            return folder.skip_fault(folder.fault(FolderFile::PartnerPosts, line, reason));
        }
        posts.push(post);
        Ok(())
    })?;
    Ok(posts)
}
