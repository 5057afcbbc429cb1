use std::time::Duration;

use super::ResponseKey;
use crate::formats::tables::{Collection, Items};
use crate::http::error::{Problem, Source};
use crate::model::{GaugeActivity, Layer, Report, ReportContent, Timestamp};
use crate::stores::{
    AlertQuery, EntryQuery, GaugeListQuery, GaugeQuery, HistoryQuery, LayerQuery, ReportQuery, Store, Window,
    entries_in_force,
};

/// Estimated bytes of a report while a list is rendered: for its row, and for its part of the body.
const REPORT: u64 = 2 << 10;
const READING: u64 = 512;
/// Estimated bytes of a feature without its positions.
const FEATURE: u64 = 512;
const POSITION: u64 = 32;
/// Estimated bytes of a history for each log entry, and for each area, which may also need the last entry before the period.
const ENTRY: u64 = 128;
/// Estimated bytes of a message in a list of alerts. The shortest format needs a quarter of this.
const ALERT: u64 = 4 << 10;
/// Counting of log entries stops at this number, because no client has the quota for so many.
const MAX_ENTRIES: u64 = 1 << 20;
/// Estimated bytes of a feature that is compared with a selection.
const SCANNED: u64 = 64;
/// Estimated bytes for each hour of a history: mostly the data that the store reads to compute the numbers of the hour.
const HOUR: u64 = 1 << 10;

/// Estimates the cost of rendering a response: the memory that it needs, in bytes. The estimate is coarse, and rather too high.
///
/// For lists, the store counts the items. For histories and lists of alerts, it counts log entries; histories also cost for each
/// area and hour. Other responses have few keys: they cost twice `last`, their size when last rendered. [`features`] estimates a
/// box.
///
/// Fails with 400 for a list of more than `features` items.
pub(super) async fn estimate(
    key: &ResponseKey,
    store: &dyn Store,
    now: Timestamp,
    features: u64,
    last: Option<usize>,
) -> Result<u64, Problem> {
    Ok(match key {
        ResponseKey::Layer(LayerQuery::Reports(query), _)
        | ResponseKey::Within(_, LayerQuery::Reports(query), _) => {
            report_list(reports(query, store, features).await?)
        }
        ResponseKey::Layer(LayerQuery::Gauges(query), _) => {
            readings(query, store, features).await? * READING + last.map_or(0, |bytes| 2 * bytes as u64)
        }
        ResponseKey::FloodArchive(query) | ResponseKey::FloodSeries(query) => history(query, store).await?,
        ResponseKey::Layer(LayerQuery::Alerts(AlertQuery::InForce(query), _), _)
            if !query.selector.is_everything() || last.is_none() =>
        {
            let entries = entries_in_force(query, now);
            store.count_flood_entries(&entries, MAX_ENTRIES).await? * ALERT
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

pub(super) fn features(layer: &Layer) -> u64 {
    layer.features().map(|feature| FEATURE + POSITION * feature.geometry.positions() as u64).sum()
}

pub(super) fn items(items: &Items) -> u64 {
    let positions =
        items.selected.iter().map(|index| items.layer.feature(*index).geometry.positions() as u64);
    let feature = if items.collection == Collection::Reports { REPORT } else { FEATURE };
    positions.map(|positions| feature + POSITION * positions).sum()
}

pub(super) fn report_list(count: u64) -> u64 {
    count * REPORT
}

pub(super) fn layer_text(layer: &Layer) -> u64 {
    let Layer::Reports(reports) = layer else { return 0 };
    let text_length = |report: &Report| {
        let ReportContent { title, text, report_data, .. } = &report.content;
        title.len() + text.len() + report_data.as_ref().map_or(0, |data| data.get().len())
    };
    reports.reports.iter().map(|report| REPORT / 2 + 2 * text_length(report) as u64).sum()
}

/// Estimates the cost of comparing each feature with a selection.
pub(super) fn scan(features: usize) -> u64 {
    SCANNED * features as u64
}

/// Returns the part of the cost that is known without counting, so that a client without enough quota is rejected first.
pub(super) async fn estimate_upfront(key: &ResponseKey, store: &dyn Store) -> Result<u64, Problem> {
    match key {
        ResponseKey::FloodArchive(query) | ResponseKey::FloodSeries(query) => {
            empty_history_cost(query, store).await
        }
        _ => Ok(0),
    }
}

/// Estimates the cost of the states of a period: the log entries in the period, plus the cost of a period without entries.
pub(super) async fn history(query: &HistoryQuery, store: &dyn Store) -> Result<u64, Problem> {
    let HistoryQuery { selector, period } = query;
    let entries =
        EntryQuery { selector: selector.clone(), area: None, from: period.start(), until: period.end() };
    let entries = store.count_flood_entries(&entries, MAX_ENTRIES).await?;
    Ok(entries * ENTRY + empty_history_cost(query, store).await?)
}

pub(super) async fn empty_history_cost(query: &HistoryQuery, store: &dyn Store) -> Result<u64, Problem> {
    let areas = store.places().await?.value.areas().count(&query.selector) as u64;
    Ok(areas * ENTRY + hours(Window::Within(query.period)) * HOUR)
}

/// Returns the number of additional requests that a client is charged for a cost: one per MiB.
pub(super) fn extra_requests(cost: u64) -> u32 {
    u32::try_from(cost >> 20).unwrap_or(u32::MAX)
}

async fn reports(query: &ReportQuery, store: &dyn Store, features: u64) -> Result<u64, Problem> {
    let count = store.count_reports(query, features.saturating_add(1)).await?;
    if count <= features { Ok(count) } else { Err(too_many(features, "reports", query.window)) }
}

/// Counts the readings that a list reads: the recent ones, which decide on the status of gauges, and older ones in it.
async fn readings(query: &GaugeListQuery, store: &dyn Store, features: u64) -> Result<u64, Problem> {
    let listed = &query.readings;
    let recent = GaugeQuery { window: Window::Last(GaugeActivity::WINDOW), ..listed.clone() };
    let recent = store.count_readings(&recent, MAX_ENTRIES).await?;
    let is_part = matches!(listed.window, Window::Last(length) if length <= GaugeActivity::WINDOW);
    if query.only_latest || is_part && recent <= features {
        return Ok(recent);
    }
    let count = store.count_readings(listed, features.saturating_add(1)).await?;
    if count <= features { Ok(count + recent) } else { Err(too_many(features, "readings", listed.window)) }
}

/// Returns the error for a window with too many items. It names the parameters to change: `timeperiod`, or `start` and `end`.
fn too_many(features: u64, items: &str, window: Window) -> Problem {
    match window {
        Window::Last(_) => {
            let latest = if items == "readings" { "; latest=true lists one of each gauge" } else { "" };
            let rule = format!("must be shorter: there are more than {features} {items} in it{latest}");
            Problem::invalid(Source::Query, "timeperiod", rule)
        }
        Window::Within(_) => {
            let message = format!(
                "\"start\" and \"end\" must be closer together: there are more than {features} {items} between them"
            );
            Problem::bad_request(Source::Query, &["start", "end"], message)
        }
    }
}

/// Returns the length of the window in hours, rounded down, plus one.
fn hours(window: Window) -> u64 {
    let length = match window {
        Window::Last(length) => length,
        Window::Within(period) => period.length(),
    };
    length.as_secs() / Duration::from_hours(1).as_secs() + 1
}
