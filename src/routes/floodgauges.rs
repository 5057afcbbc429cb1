use std::sync::Arc;

use rocket::serde::json::json;
use rocket::{State, get, put};

use crate::described;
use crate::guards::{
    AreaFilter, Authorized, Caller, FormatChoice, GaugesWrite, JsonBody, QueryParam, TimePeriod, WithFailed,
};
use crate::http::error::Problem;
use crate::model::Clock;
use crate::model::bodies::read_gauge;
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::reference;
use crate::schema::resources::Gauges;
use crate::stores::{GaugeQuery, LayerQuery, Store, Window};
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
    ]
}

#[get("/floodgauges")]
pub(super) async fn list_gauges(
    _caller: Caller,
    select: AreaFilter<Gauges>,
    time_period: QueryParam<TimePeriod>,
    with_failed: QueryParam<WithFailed>,
    choice: FormatChoice<Gauges>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let query = GaugeQuery {
        selector: select.areas,
        window: Window::Last(time_period.0),
        with_failed: with_failed.0,
    };
    cache.layer(LayerQuery::Gauges(query), choice.format).await
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
