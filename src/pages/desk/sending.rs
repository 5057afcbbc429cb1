//! What the script of the desk sends. The same functions carry it out as for the routes under the base address.

use std::sync::Arc;

use rocket::{State, post, put};
use serde_json::json;

use super::session::OfficerScript;
use crate::actions::{change_batch, set_report_visibility, undo_batch};
use crate::archive::Archive;
use crate::changes::Follower;
use crate::guards::{IdempotencyKey, JsonBody, PathParam};
use crate::http::error::Problem;
use crate::model::bodies::read_reason;
use crate::model::{BatchNumber, HideWaiting, ReportKey, SenderHash};
use crate::photos::CardImages;
use crate::rendering::ApiResponse;

use crate::sources::Sources;
use crate::stores::Store;
use crate::telemetry::Metrics;

/// `POST /desk/changes`: sets and clears the states of areas, or says what that would do.
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
    officer.must_write()?;
    let answer = change_batch(officer.actor(), key, body, store, metrics).await?;
    sources.record_subject(&officer.credential.subject);
    Ok(answer)
}

/// `POST /desk/changes/:batch/undo`: sets the states that the areas had before a batch.
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
    officer.must_write()?;
    let answer = undo_batch(officer.actor(), key, batch.get()?, store, metrics).await?;
    sources.record_subject(&officer.credential.subject);
    Ok(answer)
}

/// `PUT /desk/reports/:id/visibility`: hides a report, or shows it.
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
    officer.must_moderate()?;
    set_report_visibility(officer.actor(), id.get()?, body, store, images, follower, archive.inner().as_ref())
        .await
}

/// `POST /desk/reports/waiting/:sender/hide`: hides all reports of a sender that wait for review.
#[post("/desk/reports/waiting/<sender>/hide", data = "<body>")]
pub(super) async fn hide_waiting(
    officer: OfficerScript,
    sender: PathParam<SenderHash>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let OfficerScript(officer) = officer;
    officer.must_moderate()?;
    let reason = read_reason(&body.0).map_err(|faults| Problem::faults(&faults))?;
    let order = HideWaiting { sender: sender.get()?, by: officer.actor(), reason };
    // They are hidden already, so no response has them.
    let hidden = store.hide_waiting(&order).await?;
    ApiResponse::bare(&json!({ "hidden": hidden }))
}

/// `POST /desk/alive`: an officer works at the desk, so the officer's source is heard. The page sends it only within 30 minutes of the
/// last key or tap.
#[post("/desk/alive")]
pub(super) fn hear(sender: OfficerScript, sources: &State<Sources>) -> Result<ApiResponse, Problem> {
    sources.record_subject(&sender.0.credential.subject);
    ApiResponse::private_result(&json!({}))
}
