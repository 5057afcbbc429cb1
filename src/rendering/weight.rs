use std::time::Duration;

use super::ResponseKey;
use crate::formats::tables::{Collection, Items};
use crate::http::error::{Problem, Source};
use crate::model::{Layer, Report, ReportContent, Timestamp};
use crate::stores::{
    AlertQuery, EntryQuery, GaugeQuery, HistoryQuery, LayerQuery, ReportQuery, Store, Window,
    entries_in_force,
};

/// The bytes that a report takes while a list of reports is rendered: for its row, and for its part of the body.
const REPORT: u64 = 2 << 10;
/// The same for a reading of a gauge.
const READING: u64 = 512;
/// The bytes that a feature of a part of the map takes without its positions: for its properties.
const FEATURE: u64 = 512;
/// The bytes that a position takes in such a part.
const POSITION: u64 = 32;
/// The bytes that an entry of the log of flood states takes in a history, and an area in one, which may have an entry from before it.
const ENTRY: u64 = 128;
/// The bytes that a message takes in a list of alerts. The shortest format needs a quarter of this.
const ALERT: u64 = 4 << 10;
/// The most entries that are counted. So many cost more than any client has.
const MOST_ENTRIES: u64 = 1 << 20;
/// The bytes that a feature takes while features are selected by their values, of which most may not be in the response.
const SCANNED: u64 = 64;
/// The bytes that an hour of a history takes. The numbers of an hour take much less; this covers the data that the store reads
/// to find them.
const HOUR: u64 = 1 << 10;

/// Estimates how many bytes rendering the response to a question takes. The estimate is coarse, and rather too large.
///
/// The store counts the items of a list, and the entries of the log that a history or a list of alerts is made from; further, a
/// history is estimated by its areas and hours. Everything else is on the map, where requests can
/// ask for only few different things: it is estimated by its size when it was rendered `last`. A part of the map is estimated by
/// its [`features`].
///
/// # Errors
///
/// 400 for a list of more than `features` items; any error of the store.
pub(super) async fn weigh(
    question: &ResponseKey,
    store: &dyn Store,
    now: Timestamp,
    features: u64,
    last: Option<usize>,
) -> Result<u64, Problem> {
    Ok(match question {
        ResponseKey::Layer(LayerQuery::Reports(query), _)
        | ResponseKey::Within(_, LayerQuery::Reports(query), _) => {
            report_list(reports(query, store, features).await?)
        }
        ResponseKey::Layer(LayerQuery::Gauges(query), _) => readings(query, store, features).await? * READING,
        ResponseKey::FloodArchive(query) | ResponseKey::FloodSeries(query) => history(query, store).await?,
        ResponseKey::Layer(LayerQuery::Alerts(AlertQuery::InForce(query), _), _)
            if !query.selector.is_everything() || last.is_none() =>
        {
            let entries = entries_in_force(query, now);
            store.count_flood_entries(&entries, MOST_ENTRIES).await? * ALERT
        }
        ResponseKey::ReportSeries(query) => hours(Window::Within(query.period)) * HOUR,
        ResponseKey::ReportSummary(query) => hours(query.window) * HOUR,
        ResponseKey::Layer(..)
        | ResponseKey::Within(..)
        | ResponseKey::FloodStates(_)
        | ResponseKey::FloodedRegions(_)
        | ResponseKey::FloodedAreas(_)
        | ResponseKey::Items(_) => last.map_or(0, |bytes| 2 * bytes as u64),
    })
}

/// Estimates how many bytes rendering the features of a part of the map takes.
pub(super) fn features(layer: &Layer) -> u64 {
    layer.features().map(|feature| FEATURE + POSITION * feature.geometry.positions() as u64).sum()
}

/// Estimates how many bytes rendering selected features of a collection takes.
pub(super) fn items(items: &Items) -> u64 {
    let positions =
        items.selected.iter().map(|index| items.layer.feature(*index).geometry.positions() as u64);
    let feature = if items.collection == Collection::Reports { REPORT } else { FEATURE };
    positions.map(|positions| feature + POSITION * positions).sum()
}

/// Estimates how many bytes rendering a list of so many reports takes.
pub(super) fn report_list(count: u64) -> u64 {
    count * REPORT
}

/// Returns how many bytes a layer takes that was read for one rendering, and writing it: those of reports, whose texts can be long.
pub(super) fn read(layer: &Layer) -> u64 {
    let Layer::Reports(reports) = layer else { return 0 };
    let text = |report: &Report| {
        let ReportContent { title, text, report_data, .. } = &report.content;
        title.len() + text.len() + report_data.as_ref().map_or(0, |data| data.get().len())
    };
    reports.reports.iter().map(|report| REPORT / 2 + 2 * text(report) as u64).sum()
}

/// Estimates how many bytes selecting features of a layer by their values, their time or their place takes: each is looked at.
pub(super) fn scanned(features: usize) -> u64 {
    SCANNED * features as u64
}

/// Returns the part of an estimate that is known before anything is counted, so that a client that cannot afford it is refused first.
pub(super) async fn before_counting(question: &ResponseKey, store: &dyn Store) -> Result<u64, Problem> {
    match question {
        ResponseKey::FloodArchive(query) | ResponseKey::FloodSeries(query) => {
            quiet_history(query, store).await
        }
        _ => Ok(0),
    }
}

/// Estimates how many bytes the states of a period take, by the entries of the log that are read: those in the period, and the one
/// before it of each area.
pub(super) async fn history(query: &HistoryQuery, store: &dyn Store) -> Result<u64, Problem> {
    let HistoryQuery { selector, period } = query;
    let entries =
        EntryQuery { selector: selector.clone(), area: None, from: period.start(), until: period.end() };
    let entries = store.count_flood_entries(&entries, MOST_ENTRIES).await?;
    Ok(entries * ENTRY + quiet_history(query, store).await?)
}

/// Estimates the same for a period without entries.
pub(super) async fn quiet_history(query: &HistoryQuery, store: &dyn Store) -> Result<u64, Problem> {
    let areas = store.places().await?.value.areas().count(&query.selector) as u64;
    Ok(areas * ENTRY + hours(Window::Within(query.period)) * HOUR)
}

/// Returns how many requests a rendering of this weight costs in addition to its own: one for each MiB.
pub(super) fn cost(weight: u64) -> u32 {
    u32::try_from(weight >> 20).unwrap_or(u32::MAX)
}

async fn reports(query: &ReportQuery, store: &dyn Store, features: u64) -> Result<u64, Problem> {
    let count = store.count_reports(query, features.saturating_add(1)).await?;
    if count <= features { Ok(count) } else { Err(too_many(features, "reports", query.window)) }
}

async fn readings(query: &GaugeQuery, store: &dyn Store, features: u64) -> Result<u64, Problem> {
    let count = store.count_readings(query, features.saturating_add(1)).await?;
    if count <= features { Ok(count) } else { Err(too_many(features, "readings", query.window)) }
}

fn too_many(features: u64, what: &str, window: Window) -> Problem {
    match window {
        Window::Last(_) => {
            let must = format!("must be shorter: there are more than {features} {what} in it");
            Problem::invalid(Source::Query, "timeperiod", must)
        }
        Window::Within(_) => {
            let message = format!(
                "\"start\" and \"end\" must be closer together: there are more than {features} {what} between them"
            );
            Problem::bad_request(Source::Query, &["start", "end"], message)
        }
    }
}

/// Returns the number of whole hours in a window, plus one.
fn hours(window: Window) -> u64 {
    let length = match window {
        Window::Last(length) => length,
        Window::Within(period) => period.length(),
    };
    length.as_secs() / Duration::from_hours(1).as_secs() + 1
}
