//! What the script of the desk shows, besides the states that everybody sees.

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
    WaitingReport, WaitingReports, flood_depth,
};
use crate::pages::report::Limits;
use crate::rendering::ApiResponse;
use crate::runtime::throttle::Throttle;
use crate::stores::{
    AttentionList, FloodLogQuery, ModerationQuery, ReportQuery, Store, WaitingQuery, Window,
};

/// How far back the log of the desk reaches.
const NIGHT: Duration = Duration::from_hours(24);
/// How many changes, reports and hidden reports are sent at most: the newest. The page says which were left out.
const MOST_LOGGED: u32 = 1_000;
const MOST_REPORTS: usize = 1_000;
const MOST_WAITING: u32 = 200;
/// How many waiting reports of one sender are sent at most. The script folds them into one.
const MOST_OF_SENDER: u32 = 20;
const MOST_MODERATED: u32 = 100;

/// How long after the news were collected they are collected again.
const PERIOD: Duration = Duration::from_secs(2);

/// The news, which are the same for all officers.
pub(super) type News = Throttle<Result<ApiResponse, Problem>>;

/// Returns the news of no desk yet.
pub(super) fn throttle(clock: Arc<dyn Clock>) -> News {
    Throttle::new(PERIOD, clock)
}

/// `GET /desk/news`: responds with the areas that need attention, the reports and the changes of the last day, and which reports were
/// hidden. They are collected at most every two seconds for all officers.
#[get("/desk/news")]
pub(super) async fn tell(
    _officer: Officer,
    desk: &State<Desk>,
    list: &State<Arc<AttentionList>>,
    store: &State<Arc<dyn Store>>,
    config: &State<Config>,
    limits: &State<Limits>,
) -> Result<ApiResponse, Problem> {
    desk.news.get(collect(desk.now(), list, &***store, config, limits)).await
}

async fn collect(
    now: Timestamp,
    list: &AttentionList,
    store: &dyn Store,
    config: &Config,
    limits: &Limits,
) -> Result<ApiResponse, Problem> {
    let since = now.before(NIGHT);
    let query = FloodLogQuery { since: Some(since), most: MOST_LOGGED, ..FloodLogQuery::default() };
    let log = store.all_flood_changes(&query).await?;
    let mut left_out = Map::new();
    if log.len() >= MOST_LOGGED as usize {
        left_out.insert("log".to_owned(), json!(MOST_LOGGED));
    }
    let query = ReportQuery {
        selector: crate::model::AreaSelector::default(),
        disaster: Some(DisasterType::Flood),
        training: false,
        window: Window::Last(config.attention.window),
    };
    let mut reports = store.reports(&query).await?.value.reports;
    reports.retain(|report| report.tags.local_area_id.is_some());
    if reports.len() > MOST_REPORTS {
        left_out.insert("reports".to_owned(), json!(MOST_REPORTS));
    }
    let query = WaitingQuery { most: MOST_WAITING, per_sender: MOST_OF_SENDER };
    let WaitingReports { total, reports: waiting } = store.waiting_reports(query).await?;
    if total > waiting.len() as u64 {
        left_out.insert("waiting".to_owned(), json!(waiting.len()));
    }
    let query = ModerationQuery { after: 0, before: None, most: MOST_MODERATED };
    let moderated = store.moderation_log(query).await?.value;
    if moderated.len() >= MOST_MODERATED as usize && moderated.last().is_some_and(|entry| entry.at >= since) {
        left_out.insert("hidden".to_owned(), json!(MOST_MODERATED));
    }
    let mut last = HashSet::new();
    let hidden = moderated.iter().filter(|entry| {
        // Newest first: only the last order for a report counts.
        last.insert(entry.report) && entry.action == ModerationAction::Hide && entry.at >= since
    });
    let hidden = hidden.map(
        |entry| json!({ "id": entry.report, "at": entry.at, "by": entry.by.name(), "reason": entry.reason }),
    );
    let photos = config.photos_url();
    let shown = waiting
        .iter()
        .map(|waiting| told(&waiting.report, Some(waiting), &photos))
        .chain(reports.iter().take(MOST_REPORTS).map(|report| told(report, None, &photos)));
    let news = ApiResponse::private_result(&json!({
        "attention": *list.get().await?,
        "log": log.iter().map(logged).collect::<Vec<_>>(),
        "reports": shown.collect::<Vec<_>>(),
        "hidden": hidden.collect::<Vec<_>>(),
        "waiting": total,
        "crowded": limits.is_crowded(now),
        "left_out": left_out,
    }))?;
    news.compressed().await
}

fn told(report: &Report, waiting: Option<&WaitingReport>, photos: &str) -> Value {
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
        "of_sender": waiting.map(|waiting| waiting.of_sender),
        "suspect": waiting.map(|waiting| waiting.origin.is_suspect),
    })
}

fn logged(LoggedChange { change, batch, note }: &LoggedChange) -> Value {
    json!({
        "area_id": change.area,
        "at": change.at,
        "state": change.state,
        "by": change.by.name(),
        "batch": batch.map(BatchNumber::get),
        "note": note,
    })
}
