use std::sync::Arc;

use rocket::serde::json::json;
use rocket::{State, delete, get, put};
use serde::Serialize;

use crate::actions::Author;
use crate::auth::Scope;
use crate::described;
use crate::guards::{
    AreaFilter, Authorized, BboxParam, BeforeTime, Caller, FeedEntry, FloodAreaFilter, FloodEntry,
    FloodsWrite, FormatChoice, JsonBody, MinimumState, PathParam, QueryParam, RequestedPeriod, Username,
};
use crate::http::error::Problem;
use crate::model::bodies::read_flood_state;
use crate::model::{Actor, AreaId, FloodChange, FloodState, Timestamp};
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache, ResponseKey};
use crate::schema::resources::Floods;
use crate::schema::{array, reference};
use crate::stores::{FloodQuery, HistoryQuery, LayerQuery, LogQuery, SetFloodState, Store};
use crate::telemetry::Metrics;

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_floods)
            .summary("The flood map: areas with their current states")
            .with(|operation, _| operation.coverage_header()),
        described!(list_flood_states)
            .summary("The current flood states without geometry")
            .cached_result(array(reference("FloodStateRecord")))
            .with(|operation, _| operation.coverage_header()),
        described!(list_flood_archive)
            .summary("The highest state of each area in a period")
            .cached_result(array(reference("ArchiveRecord"))),
        described!(list_flood_series)
            .summary("The number of flooded areas at each hour of a period")
            .cached_result(array(reference("SeriesPoint"))),
        described!(list_flood_changes)
            .summary("The log of an area: who changed its state, newest first, at most 1,000 entries")
            .result(array(reference("FloodLogEntry"))),
        described!(set_flood_state)
            .summary("Sets the state of an area")
            .body(|_| reference("FloodStateOrder"))
            .response(reference("FloodStateChange")),
        described!(clear_flood_state)
            .summary("Clears the state of an area")
            .response(reference("FloodStateChange")),
    ]
}

/// Responds with the map, or with one alert if the query is the address of an entry in the feed.
#[get("/floods")]
pub(super) async fn list_floods(
    _caller: Caller,
    select: FloodAreaFilter,
    minimum_state: QueryParam<MinimumState>,
    within: QueryParam<BboxParam>,
    choice: FormatChoice<Floods>,
    entry: FloodEntry,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    if let FloodEntry(Some(FeedEntry { area, since, format })) = entry {
        return cache.layer(LayerQuery::FloodSince(area, since), format).await;
    }
    let query = FloodQuery { selector: select.0, minimum_state: minimum_state.0 };
    cache.layer_within(LayerQuery::Floods(query), within.0, choice.format).await
}

#[get("/floods/states")]
pub(super) async fn list_flood_states(
    _caller: Caller,
    select: FloodAreaFilter,
    minimum_state: QueryParam<MinimumState>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let query = FloodQuery { selector: select.0, minimum_state: minimum_state.0 };
    cache.get(ResponseKey::FloodStates(query)).await
}

#[get("/floods/archive")]
pub(super) async fn list_flood_archive(
    _caller: Caller,
    select: AreaFilter<Floods>,
    period: RequestedPeriod,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let query = HistoryQuery { selector: select.areas, period: period.0 };
    cache.get(ResponseKey::FloodArchive(query)).await
}

#[get("/floods/timeseries")]
pub(super) async fn list_flood_series(
    _caller: Caller,
    select: AreaFilter<Floods>,
    period: RequestedPeriod,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let query = HistoryQuery { selector: select.areas, period: period.0 };
    cache.get(ResponseKey::FloodSeries(query)).await
}

const LOG_PAGE_SIZE: u32 = 1_000;

#[derive(Serialize)]
struct LogEntry<'a> {
    changed_at: Timestamp,
    state: Option<FloodState>,
    subject: &'a str,
    username: Option<&'a str>,
}

impl<'a> From<&'a FloodChange> for LogEntry<'a> {
    fn from(FloodChange { state, at, by, .. }: &'a FloodChange) -> Self {
        let Actor { subject, username } = by;
        Self { changed_at: *at, state: *state, subject, username: username.as_deref() }
    }
}

#[get("/floods/<id>/log")]
pub(super) async fn list_flood_changes(
    _authorized: Authorized<FloodsWrite>,
    id: PathParam<AreaId>,
    before: QueryParam<BeforeTime>,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let query = LogQuery { area: id.get()?, before: before.0, most: LOG_PAGE_SIZE };
    let entries = store.latest_flood_changes(&query).await?;
    ApiResponse::private_result(&entries.iter().map(LogEntry::from).collect::<Vec<_>>())
}

#[put("/floods/<id>", data = "<body>")]
pub(super) async fn set_flood_state(
    authorized: Authorized<FloodsWrite>,
    id: PathParam<AreaId>,
    username: QueryParam<Username>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
    metrics: &State<Metrics>,
) -> Result<ApiResponse, Problem> {
    let area = id.get()?;
    let state = read_flood_state(&body.0).map_err(|faults| Problem::faults(&faults))?;
    let changed = change(store, authorized, username.get(), area, Some(state)).await?;
    metrics.flood_changed();
    Ok(changed)
}

#[delete("/floods/<id>")]
pub(super) async fn clear_flood_state(
    authorized: Authorized<FloodsWrite>,
    id: PathParam<AreaId>,
    username: QueryParam<Username>,
    store: &State<Arc<dyn Store>>,
    metrics: &State<Metrics>,
) -> Result<ApiResponse, Problem> {
    let area = id.get()?;
    let changed = change(store, authorized, username.get(), area, None).await?;
    metrics.flood_changed();
    Ok(changed)
}

async fn change(
    store: &State<Arc<dyn Store>>,
    authorized: Authorized<FloodsWrite>,
    Username(username): Username,
    area: AreaId,
    state: Option<FloodState>,
) -> Result<ApiResponse, Problem> {
    let Author { by, limit } = Author::new(&authorized.credential, Scope::FloodsWrite, username);
    let changed = store.set_flood_state(SetFloodState { area, state, by, limit }).await?;
    ApiResponse::bare(&json!({
        "localAreaId": changed.area.number(),
        "state": changed.state,
        "updated": true,
    }))
}
