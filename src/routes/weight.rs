use std::time::Duration;

use super::Question;
use crate::error::{Problem, Source};
use crate::stores::{GaugeQuery, LayerQuery, ReportQuery, Store, Window};

/// What a report takes while a list of reports is rendered, in bytes: its row, and what is written of it.
const REPORT: u64 = 2 << 10;
/// The same for a reading of a gauge.
const READING: u64 = 512;
/// What an hour of a history takes. The numbers of an hour are much less; this stands for what the store reads to find them.
const HOUR: u64 = 1 << 10;

/// Estimates what rendering the response to a question takes, in bytes. The estimate is coarse, and rather too large.
///
/// Lists are counted by the store; histories are estimated by their hours. Everything else is on the map, where requests can
/// ask for few different things: it is as large as when it was rendered `last`.
///
/// # Errors
///
/// 400 for a list of more than so many `features`; when the store fails.
pub(super) async fn weigh(
    question: &Question,
    store: &dyn Store,
    features: u64,
    last: Option<usize>,
) -> Result<u64, Problem> {
    Ok(match question {
        Question::Layer(LayerQuery::Reports(query), _) => reports(query, store, features).await? * REPORT,
        Question::Layer(LayerQuery::Gauges(query), _) => readings(query, store, features).await? * READING,
        Question::FloodArchive(query) | Question::FloodSeries(query) => {
            hours(Window::Within(query.period)) * HOUR
        }
        Question::ReportSeries(query) => hours(Window::Within(query.period)) * HOUR,
        Question::ReportSummary(query) => hours(query.window) * HOUR,
        Question::Layer(..)
        | Question::FloodStates(_)
        | Question::FloodedRegions(_)
        | Question::FloodedAreas(_) => last.map_or(0, |bytes| 2 * bytes as u64),
    })
}

/// How many requests a rendering of this weight costs beside its own: one for each MiB.
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

/// The whole hours of a window, and one more.
fn hours(window: Window) -> u64 {
    let length = match window {
        Window::Last(length) => length,
        Window::Within(period) => period.length(),
    };
    length.as_secs() / Duration::from_hours(1).as_secs() + 1
}
