use std::time::Duration;

use siaga::folder::{FolderFile, FolderRules, FolderWriter};
use siaga::model::Timestamp;

use super::copied::Copied;
use super::source::{Address, CopyError, Source};
use super::{floods, gauges, places, reports};

#[derive(Debug)]
pub(crate) struct Options<'a> {
    /// The rules for the cards and reports of the folder.
    pub(crate) rules: &'a FolderRules,
    /// The current time. The log of flood states must not contain later times.
    pub(crate) now: Timestamp,
    /// The time limit for connecting to the database.
    pub(crate) timeout: Duration,
    /// Whether to repair invalid geometry instead of copying it unchanged.
    pub(crate) repair: bool,
}

/// Copies a database into a folder, in one read-only transaction. Gives the files their names only when all files are complete,
/// so the folder is empty after a failure.
pub(crate) async fn copy(
    from: &Address,
    folder: &FolderWriter,
    options: &Options<'_>,
) -> Result<Copied, CopyError> {
    let mut source = Source::open(from, options.timeout).await?;
    let mut areas = folder.areas()?;
    let mut regions = folder.regions()?;
    let mut cities = folder.cities()?;
    let mut infrastructure = folder.infrastructure()?;
    let mut gauges = folder.gauges()?;
    let mut readings = folder.gauge_readings()?;
    let mut states = folder.flood_states()?;
    let mut reports = folder.reports()?;
    let mut cards = folder.cards()?;

    places::regions(&mut source, &mut regions, &mut cities, options).await?;
    let known = places::areas(&mut source, &mut areas, options).await?;
    places::infrastructure(&mut source, &mut infrastructure).await?;
    floods::states(&mut source, &mut states, &known, options.now).await?;
    let received = reports::reports(&mut source, &mut reports, options.rules).await?;
    reports::cards(&mut source, &mut cards, &received, options.rules).await?;
    let known = gauges::gauges(&mut source, &mut gauges).await?;
    gauges::readings(&mut source, &mut readings, &known).await?;
    let copied = source.close().await;

    areas.finish()?;
    regions.finish()?;
    cities.finish()?;
    infrastructure.finish()?;
    gauges.finish()?;
    readings.finish()?;
    states.finish()?;
    reports.finish()?;
    cards.finish()?;
    Ok(copied)
}

pub(super) const FILES: [FolderFile; 9] = [
    FolderFile::Areas,
    FolderFile::Regions,
    FolderFile::Cities,
    FolderFile::Infrastructure,
    FolderFile::Gauges,
    FolderFile::GaugeReadings,
    FolderFile::FloodStates,
    FolderFile::Reports,
    FolderFile::Cards,
];
