use std::sync::Arc;

use rocket::{State, get, put};
use serde_json::json;

use crate::changes::Follower;
use crate::described;
use crate::guards::{Authenticated, Caller, PathParam, SourceName};
use crate::http::error::Problem;
use crate::openapi::Described;
use crate::rendering::ApiResponse;
use crate::schema::{annotate, array, object, or_null, reference, text, utc_date_time};
use crate::sources::Sources;
use crate::stores::GaugeStatuses;

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_sources)
            .summary("The sources of the data, and when each was last heard")
            .response(object(json!({
                "statusCode": { "const": 200 },
                "result": array(reference("DataSource")),
                "gauges": or_null(object(json!({
                    "total": { "type": "integer", "minimum": 0, "description": "How many gauges there are." },
                    "silent": annotate(array(text("Its `gaugeid`.")), json!({
                        "maxItems": 100, "description": "The first 100 that are silent.",
                    })),
                    "never": { "type": "integer", "minimum": 0, "description": "How many were never read." },
                }))),
                "stale_since": or_null(utc_date_time(
                    "While the server cannot read from its store: the time until which its data is known to be current. Otherwise null.",
                )),
            }))),
        described!(send_heartbeat)
            .summary("Tells that a source is alive though it has nothing to write")
            .response(reference("DataSource")),
    ]
}

#[get("/sources")]
pub(super) async fn list_sources(
    _caller: Caller,
    sources: &State<Sources>,
    gauges: &State<Arc<GaugeStatuses>>,
    follower: &State<Follower>,
) -> Result<ApiResponse, Problem> {
    ApiResponse::bare(&json!({
        "statusCode": 200,
        "result": sources.reports(),
        "gauges": gauges.summary().await,
        "stale_since": follower.stale_since(),
    }))
}

#[put("/sources/<name>/heartbeat")]
pub(super) fn send_heartbeat(
    identified: Authenticated,
    name: PathParam<SourceName>,
    sources: &State<Sources>,
) -> Result<ApiResponse, Problem> {
    let (Authenticated(credential), SourceName(name)) = (identified, name.get()?);
    let missing = || Problem::not_found(format_args!("source {name}"));
    let subject = sources.subject(&name).ok_or_else(missing)?;
    if subject != credential.subject {
        let reason = format_args!("the source {name} has another subject");
        return Err(Problem::forbidden(reason, Some(&credential.subject)));
    }
    ApiResponse::bare(&sources.record_heartbeat(&name).ok_or_else(missing)?)
}
