//! What the map compares the present with: the states of an hour ago, from the log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::time;
use rocket::{State, get};
use serde_json::{Value, json};

use super::page_cache::PageCache;
use crate::config::Config;
use crate::guards::{AreaFilter, Caller};
use crate::http::error::Problem;
use crate::model::alerts::LogEntry;
use crate::model::{AreaId, AreaSelector, FloodState, Period, Timestamp};
use crate::rendering::{ApiResponse, JSON, ResponseCache};
use crate::schema::resources;
use crate::stores::{EntryQuery, HistoryQuery, Resource, Revision, Store};

const HOUR: Duration = Duration::from_hours(1);
/// All readers compare with the same times, so that they get the same response.
const STEP: Duration = Duration::from_mins(5);
/// The last responses, by selection.
#[derive(Debug)]
pub(crate) struct Trends(PageCache<AreaSelector, (Revision, Timestamp), ApiResponse>);

impl Default for Trends {
    fn default() -> Self {
        Self(PageCache::new(Duration::ZERO))
    }
}

/// Responds with the states of an hour ago (`then`), since when each changed area has had its present state (`since`), the areas whose
/// log an undo has corrected since (`corrected`), and whether the log is older than an hour (`logged`).
#[get("/map/trend", rank = 1)]
pub(in crate::pages) async fn show_trend(
    _caller: Caller,
    select: AreaFilter<resources::Floods>,
    cache: ResponseCache,
    trends: &State<Trends>,
    store: &State<Arc<dyn Store>>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let now = cache.now();
    let at = now.floor(STEP).saturating_sub(HOUR);
    let selector = select.areas;
    let read = async {
        let revision = store.revision(Resource::Floods).await?;
        let create = async {
            let trend = read_trend(&***store, &selector, at, now).await?;
            Ok(ApiResponse::public(JSON, trend.to_string().into_bytes()))
        };
        trends.0.get(selector.clone(), (revision, at), create).await
    };
    time::timeout(config.limits.timeout, read).await.map_err(Problem::slow_store)?
}

async fn read_trend(
    store: &dyn Store,
    selector: &AreaSelector,
    at: Timestamp,
    now: Timestamp,
) -> Result<Value, Problem> {
    let period = Period::new(at, at, Duration::ZERO).map_err(Problem::internal)?;
    let then = store.flood_archive(&HistoryQuery { selector: selector.clone(), period }).await?.value;
    let then: BTreeMap<AreaId, FloodState> =
        then.into_iter().map(|record| (record.area_id, record.max_state)).collect();
    let entries = |from, until| EntryQuery { selector: selector.clone(), area: None, from, until };
    // An entry may be a moment ahead of this server's clock.
    let changed = store.flood_entries(&entries(at, now.saturating_add(HOUR))).await?.value;
    let is_logged =
        !then.is_empty() || store.count_flood_entries(&entries(Timestamp::EPOCH, at), 1).await? > 0;
    let corrected =
        changed.iter().filter(|(_, log)| log.iter().any(is_undo)).map(|(area, _)| area.to_string());
    let since = changed.iter().filter_map(|(area, log)| Some((area.to_string(), json!(present_since(log)?))));
    Ok(json!({
        "at": at,
        "until": now,
        "logged": is_logged,
        "then": then.iter().map(|(area, state)| (area.to_string(), json!(state))).collect::<serde_json::Map<_, _>>(),
        "since": since.collect::<serde_json::Map<_, _>>(),
        "corrected": corrected.collect::<Vec<_>>(),
    }))
}

/// Whether an entry restores an earlier state, with its earlier times.
fn is_undo(entry: &LogEntry) -> bool {
    entry.confirmed != Some(entry.at)
}

/// Returns the time of the first of the last entries that have the same state.
fn present_since(log: &[LogEntry]) -> Option<Timestamp> {
    let state = log.last()?.state;
    log.iter().rev().take_while(|entry| entry.state == state).last().map(|entry| entry.at)
}
