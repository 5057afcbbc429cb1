//! The actions of the desk's script, implemented by the same functions as the routes of the HTTP API.

use std::sync::Arc;

use rocket::{State, delete, post, put};
use serde_json::json;

use super::session::{Desk, OfficerScript};
use crate::actions::{Author, change_batch, mute_gauge, set_report_visibility, undo_batch};
use crate::archive::Archive;
use crate::auth::Scope;
use crate::changes::Follower;
use crate::guards::{GaugeId, IdempotencyKey, JsonBody, PathParam};
use crate::http::error::Problem;
use crate::model::bodies::read_reason;
use crate::model::{BatchNumber, HiddenReports, HideWaiting, ReportKey, SenderHash};
use crate::photos::CardImages;
use crate::rendering::ApiResponse;
use crate::sources::Sources;
use crate::stores::Store;
use crate::telemetry::Metrics;

#[post("/desk/changes", data = "<body>")]
pub(super) async fn change(
    sender: OfficerScript,
    key: IdempotencyKey,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
    sources: &State<Sources>,
    metrics: &State<Metrics>,
) -> Result<ApiResponse, Problem> {
    let OfficerScript(officer) = sender;
    officer.require_write()?;
    let response = change_batch(officer.author(Scope::FloodsWrite), key, body, store, metrics).await?;
    sources.record_subject(&officer.credential.subject);
    Ok(response)
}

#[post("/desk/changes/<batch>/undo")]
pub(super) async fn undo(
    sender: OfficerScript,
    batch: PathParam<BatchNumber>,
    key: IdempotencyKey,
    store: &State<Arc<dyn Store>>,
    sources: &State<Sources>,
    metrics: &State<Metrics>,
) -> Result<ApiResponse, Problem> {
    let OfficerScript(officer) = sender;
    officer.require_write()?;
    let response = undo_batch(officer.author(Scope::FloodsWrite), key, batch.get()?, store, metrics).await?;
    sources.record_subject(&officer.credential.subject);
    Ok(response)
}

#[put("/desk/reports/<id>/visibility", data = "<body>")]
pub(super) async fn moderate(
    sender: OfficerScript,
    id: PathParam<ReportKey>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
    images: &State<Arc<CardImages>>,
    follower: &State<Follower>,
    archive: &State<Option<Archive>>,
) -> Result<ApiResponse, Problem> {
    let OfficerScript(officer) = sender;
    officer.require_moderation_scope()?;
    let author = officer.author(Scope::ReportsModerate);
    set_report_visibility(author, id.get()?, body, store, images, follower, archive.inner().as_ref()).await
}

#[post("/desk/reports/waiting/<sender>/hide", data = "<body>")]
pub(super) async fn hide_waiting(
    officer: OfficerScript,
    sender: PathParam<SenderHash>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let OfficerScript(officer) = officer;
    officer.require_moderation_scope()?;
    let reason = read_reason(&body.0).map_err(|faults| Problem::faults(&faults))?;
    let Author { by, limit } = officer.author(Scope::ReportsModerate);
    let order = HideWaiting { sender: sender.get()?, by, limit, reason };
    // No cached response becomes wrong, because waiting reports are not public.
    let HiddenReports { hidden, left } = store.hide_waiting(&order).await?;
    ApiResponse::bare(&json!({ "hidden": hidden, "left": left }))
}

#[put("/desk/gauges/<id>/mute", data = "<body>")]
pub(super) async fn mute(
    officer: OfficerScript,
    id: PathParam<GaugeId>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
    desk: &State<Desk>,
) -> Result<ApiResponse, Problem> {
    let OfficerScript(officer) = officer;
    let name = Some(officer.name().to_owned());
    mute_gauge(&officer.credential, name, &id.get()?.0, Some(&body.0), desk.now(), &***store).await
}

#[delete("/desk/gauges/<id>/mute")]
pub(super) async fn unmute(
    officer: OfficerScript,
    id: PathParam<GaugeId>,
    store: &State<Arc<dyn Store>>,
    desk: &State<Desk>,
) -> Result<ApiResponse, Problem> {
    let OfficerScript(officer) = officer;
    let name = Some(officer.name().to_owned());
    mute_gauge(&officer.credential, name, &id.get()?.0, None, desk.now(), &***store).await
}

/// Records a heartbeat of the officer's source. The page sends heartbeats only until 30 minutes after the last keystroke or tap.
#[post("/desk/alive")]
pub(super) fn heartbeat(sender: OfficerScript, sources: &State<Sources>) -> Result<ApiResponse, Problem> {
    sources.record_subject(&sender.0.credential.subject);
    ApiResponse::private_result(&json!({}))
}
