//! A data set as a folder.

use super::{FolderWriter, WriteError};
use crate::datasets::Dataset;

/// Writes every file of the folder.
pub(in crate::datasets) fn save(dataset: &Dataset, folder: &FolderWriter) -> Result<(), WriteError> {
    let mut areas = folder.areas()?;
    dataset.areas.iter().try_for_each(|area| areas.write(area))?;
    areas.finish()?;
    let mut regions = folder.regions()?;
    dataset.regions.iter().try_for_each(|region| regions.write(region))?;
    regions.finish()?;
    let mut cities = folder.cities()?;
    dataset.cities.iter().try_for_each(|city| cities.write(city))?;
    cities.finish()?;
    let mut infrastructure = folder.infrastructure()?;
    dataset.infrastructure.iter().try_for_each(|of| infrastructure.write(of))?;
    infrastructure.finish()?;
    let (mut gauges, mut readings) = (folder.gauges()?, folder.gauge_readings()?);
    for observed in &dataset.gauges {
        gauges.write(&observed.gauge)?;
        observed.observations.iter().try_for_each(|reading| readings.write(&observed.gauge.id, reading))?;
    }
    gauges.finish()?;
    readings.finish()?;
    let mut states = folder.flood_states()?;
    dataset.flood_log.iter().try_for_each(|change| states.write(change))?;
    states.finish()?;
    let mut reports = folder.reports()?;
    dataset.reports.iter().try_for_each(|report| reports.write(report))?;
    reports.finish()?;
    let mut cards = folder.cards()?;
    dataset.cards.iter().try_for_each(|card| cards.write(card))?;
    cards.finish()?;
    let mut posts = folder.partner_posts()?;
    dataset.partner_posts.iter().try_for_each(|post| posts.write(post))?;
    posts.finish()
}
