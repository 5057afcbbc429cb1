//! Data for the script of the desk, in addition to the public states.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use rocket::{State, get};
use serde_json::{Map, Value, json};

use super::session::{Desk, Officer};
use crate::config::Config;
use crate::http::error::Problem;
use crate::model::{
    BatchNumber, Clock, DisasterType, ImageUrl, LoggedChange, ModerationAction, Report, Timestamp,
    UndoneChanges, WaitingReport, WaitingReports, flood_depth,
};
use crate::pages::report::ReportLimits;
use crate::rendering::ApiResponse;
use crate::runtime::throttle::Throttle;
use crate::stores::{
    AttentionList, FloodLogQuery, ModerationQuery, ReportQuery, Store, WaitingQuery, Window,
};

const LOG_WINDOW: Duration = Duration::from_hours(24);
/// The limits of the lists. A list over its limit keeps the newest items, and is named in `left_out` of the response.
const MAX_LOGGED: u32 = 1_000;
const MAX_REPORTS: usize = 1_000;
const MAX_WAITING: u32 = 200;
/// The maximum number of waiting reports from one sender. The script shows them as one entry, so it needs no more.
const MAX_PER_SENDER: u32 = 20;
const MAX_MODERATED: u32 = 100;

/// Minimum time between two reads of the news.
const MIN_INTERVAL: Duration = Duration::from_secs(2);

/// The response with the news that was read last, shared by all officers.
pub(super) type News = Throttle<Result<ApiResponse, Problem>>;

pub(super) fn throttle(clock: Arc<dyn Clock>) -> News {
    Throttle::new(MIN_INTERVAL, clock)
}

/// Responds with the attention list, reports and changes of the last day, and hidden reports, read once for all officers.
#[get("/desk/news")]
pub(super) async fn get_news(
    _officer: Officer,
    desk: &State<Desk>,
    list: &State<Arc<AttentionList>>,
    store: &State<Arc<dyn Store>>,
    config: &State<Config>,
    limits: &State<ReportLimits>,
) -> Result<ApiResponse, Problem> {
    desk.news.get(collect(desk.now(), list, &***store, config, limits)).await
}

/// Reads the news. `left_out` has the lists that reach their limits, so that the desk can state that items are missing.
async fn collect(
    now: Timestamp,
    list: &AttentionList,
    store: &dyn Store,
    config: &Config,
    limits: &ReportLimits,
) -> Result<ApiResponse, Problem> {
    let since = now.saturating_sub(LOG_WINDOW);
    let query = FloodLogQuery { since: Some(since), most: MAX_LOGGED, ..FloodLogQuery::default() };
    let log = store.all_flood_changes(&query).await?;
    let undone = UndoneChanges::new(&log);
    let mut left_out = Map::new();
    if log.len() >= MAX_LOGGED as usize {
        left_out.insert("log".to_owned(), json!(MAX_LOGGED));
    }
    let query = ReportQuery {
        selector: crate::model::AreaSelector::default(),
        disaster: Some(DisasterType::Flood),
        training: false,
        window: Window::Last(config.attention.window),
    };
    let mut reports = store.reports(&query).await?.value.reports;
    reports.retain(|report| report.tags.local_area_id.is_some());
    if reports.len() > MAX_REPORTS {
        left_out.insert("reports".to_owned(), json!(MAX_REPORTS));
    }
    let query = WaitingQuery { most: MAX_WAITING, per_sender: MAX_PER_SENDER };
    let WaitingReports { total, reports: waiting } = store.waiting_reports(query).await?;
    if total > waiting.len() as u64 {
        left_out.insert("waiting".to_owned(), json!(waiting.len()));
    }
    let query = ModerationQuery { after: 0, before: None, most: MAX_MODERATED };
    let moderated = store.moderation_log(query).await?.value;
    if moderated.len() >= MAX_MODERATED as usize && moderated.last().is_some_and(|entry| entry.at >= since) {
        left_out.insert("hidden".to_owned(), json!(MAX_MODERATED));
    }
    let mut last = HashSet::new();
    let hidden = moderated.iter().filter(|entry| {
        // Entries are newest first, and only the newest action on a report counts.
        last.insert(entry.report) && entry.action == ModerationAction::Hide && entry.at >= since
    });
    let hidden = hidden.map(
        |entry| json!({ "id": entry.report, "at": entry.at, "by": entry.by.name(), "reason": entry.reason }),
    );
    let photos = config.photos_url();
    let report_rows = waiting
        .iter()
        .map(|waiting| report_json(&waiting.report, Some(waiting), &photos))
        .chain(reports.iter().take(MAX_REPORTS).map(|report| report_json(report, None, &photos)));
    let gauges = store.all_gauges().await?.value;
    let muted = gauges.0.iter().filter_map(|observed| {
        let mute = observed.gauge.mute.as_ref().filter(|mute| mute.until.is_some_and(|until| now < until))?;
        Some((observed.gauge.id.clone(), json!(mute.reason)))
    });
    let news = ApiResponse::private_result(&json!({
        "attention": *list.get().await?,
        "log": log.iter().map(|logged| change_json(logged, &undone)).collect::<Vec<_>>(),
        "reports": report_rows.collect::<Vec<_>>(),
        "hidden": hidden.collect::<Vec<_>>(),
        "waiting": total,
        "muted": muted.collect::<Map<_, _>>(),
        "crowded": limits.is_crowded(now),
        "left_out": left_out,
    }))?;
    news.compressed().await
}

fn report_json(report: &Report, waiting: Option<&WaitingReport>, photos: &str) -> Value {
    let Report { key, content, tags } = report;
    json!({
        "id": key,
        "area_id": tags.local_area_id,
        "at": content.created_at,
        "title": content.title,
        "text": content.text,
        "depth": flood_depth(report),
        "photo": content.image_url.as_deref().map(|stored| ImageUrl { stored, photos }),
        "waiting": waiting.is_some(),
        "sender": waiting.and_then(|waiting| waiting.origin.sender),
        "of_sender": waiting.map(|waiting| waiting.sender_total),
        "suspect": waiting.map(|waiting| waiting.origin.is_suspect),
    })
}

fn change_json(logged: &LoggedChange, undone: &UndoneChanges) -> Value {
    let LoggedChange { change, batch, note, undoes } = logged;
    json!({
        "area_id": change.area,
        "at": change.at,
        "state": change.state,
        "by": change.by.name(),
        "batch": batch.map(BatchNumber::get),
        "note": note,
        "undoes": undoes.map(BatchNumber::get),
        "undone": undone.has(logged),
    })
}
