use std::sync::Arc;

use rocket::serde::json::json;
use rocket::{State, delete, get, put};

use crate::actions;
use crate::described;
use crate::guards::{
    AreaFilter, Authorized, Caller, FormatChoice, GaugeId, GaugesMute, GaugesWrite, JsonBody, OnlyLatest,
    PathParam, QueryParam, TimePeriod, Username, WithFailed, WithSilent,
};
use crate::http::error::Problem;
use crate::model::Clock;
use crate::model::bodies::read_gauge;
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::resources::Gauges;
use crate::schema::{array, reference};
use crate::stores::{GaugeListQuery, GaugeQuery, LayerQuery, Store, Window};
use crate::telemetry::Metrics;

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_gauges)
            .summary("Gauges with the readings of the last hour, or of another time until now")
            .list_limit_error("readings"),
        described!(store_gauge)
            .summary("Stores a gauge and its readings")
            .body(|_| reference("GaugeReadings"))
            .response(reference("GaugeStored")),
        described!(mute_gauge)
            .summary("Mutes a gauge: it is shown as switched off, and does not count as evidence of a flood")
            .body(|_| reference("MuteOrder"))
            .response(reference("MuteChange")),
        described!(unmute_gauge).summary("Ends the muting of a gauge").response(reference("MuteChange")),
        described!(list_mutes)
            .summary("The log of a gauge: who muted it and why, newest first, at most 1,000 entries")
            .result(array(reference("GaugeLogEntry"))),
    ]
}

#[get("/floodgauges")]
pub(super) async fn list_gauges(
    _caller: Caller,
    select: AreaFilter<Gauges>,
    time_period: QueryParam<TimePeriod>,
    with_failed: QueryParam<WithFailed>,
    with_silent: QueryParam<WithSilent>,
    only_latest: QueryParam<OnlyLatest>,
    choice: FormatChoice<Gauges>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let readings = GaugeQuery {
        selector: select.areas,
        window: Window::Last(time_period.0),
        with_failed: with_failed.0,
    };
    let query = GaugeListQuery { readings, with_silent: with_silent.0, only_latest: only_latest.0 };
    cache.layer(LayerQuery::Gauges(query), choice.format).await
}

#[put("/floodgauges/<id>/mute", data = "<body>")]
pub(super) async fn mute_gauge(
    authorized: Authorized<GaugesMute>,
    id: PathParam<GaugeId>,
    username: QueryParam<Username>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
    clock: &State<Arc<dyn Clock>>,
) -> Result<ApiResponse, Problem> {
    let (GaugeId(id), Username(username)) = (id.get()?, username.get());
    actions::mute_gauge(&authorized.credential, username, &id, Some(&body.0), clock.now(), &***store).await
}

#[delete("/floodgauges/<id>/mute")]
pub(super) async fn unmute_gauge(
    authorized: Authorized<GaugesMute>,
    id: PathParam<GaugeId>,
    username: QueryParam<Username>,
    store: &State<Arc<dyn Store>>,
    clock: &State<Arc<dyn Clock>>,
) -> Result<ApiResponse, Problem> {
    let (GaugeId(id), Username(username)) = (id.get()?, username.get());
    actions::mute_gauge(&authorized.credential, username, &id, None, clock.now(), &***store).await
}

#[get("/floodgauges/<id>/log")]
pub(super) async fn list_mutes(
    _authorized: Authorized<GaugesMute>,
    id: PathParam<GaugeId>,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    ApiResponse::private_result(&store.gauge_log(&id.get()?.0).await?)
}

#[put("/floodgauges", data = "<body>")]
pub(super) async fn store_gauge(
    _authorized: Authorized<GaugesWrite>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
    clock: &State<Arc<dyn Clock>>,
    metrics: &State<Metrics>,
) -> Result<ApiResponse, Problem> {
    let readings = read_gauge(&body.0, clock.now()).map_err(|faults| Problem::faults(&faults))?;
    let id = readings.id.clone();
    let stored = store.store_gauge(readings).await?;
    metrics.readings_stored(stored);
    ApiResponse::bare(&json!({ "gaugeid": id, "stored": stored, "updated": true }))
}
