//! Batch requests, and the log of all areas.

use std::sync::Arc;

use rocket::serde::json::json;
use rocket::{State, get, post};

use crate::actions::{Author, area_members, change_batch, object_members, undo_batch};
use crate::auth::Scope;
use crate::described;
use crate::guards::{
    Authorized, BeforeTime, FloodsWrite, IdempotencyKey, JsonBody, LogAuthor, LogBatch, LogSince, LogUntil,
    PathParam, QueryParam, Username,
};
use crate::http::error::Problem;
use crate::model::{BatchNumber, FloodChange, LoggedChange};
use crate::openapi::Described;
use crate::rendering::ApiResponse;
use crate::schema::{array, reference};
use crate::stores::{FloodLogQuery, Store};
use crate::telemetry::Metrics;

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(change_floods)
            .summary("Sets and clears the states of up to 1,000 areas: all of them, or none")
            .body(|_| reference("FloodOrder"))
            .result(reference("FloodBatch"))
            .error(404, "Some areas do not exist; `unknown` names all of them. Nothing was stored.")
            .error(409, "Areas have changed since `after`; `conflicts` lists them. Nothing was stored."),
        described!(undo_flood_batch)
            .summary("Sets the states that the areas had before a batch")
            .result(reference("FloodBatch"))
            .error(409, "The batch is older than a day."),
        described!(list_all_flood_changes)
            .summary("The log of all areas: who changed which state, newest first, in pages of 1,000 entries")
            .result(array(reference("FloodBatchEntry"))),
    ]
}

#[post("/floods/changes", data = "<body>")]
pub(super) async fn change_floods(
    authorized: Authorized<FloodsWrite>,
    username: QueryParam<Username>,
    key: IdempotencyKey,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
    metrics: &State<Metrics>,
) -> Result<ApiResponse, Problem> {
    let author = Author::new(&authorized.credential, Scope::FloodsWrite, username.get().0);
    change_batch(author, key, body, store, metrics).await
}

#[post("/floods/changes/<batch>/undo")]
pub(super) async fn undo_flood_batch(
    authorized: Authorized<FloodsWrite>,
    batch: PathParam<BatchNumber>,
    username: QueryParam<Username>,
    key: IdempotencyKey,
    store: &State<Arc<dyn Store>>,
    metrics: &State<Metrics>,
) -> Result<ApiResponse, Problem> {
    let author = Author::new(&authorized.credential, Scope::FloodsWrite, username.get().0);
    undo_batch(author, key, batch.get()?, store, metrics).await
}

/// The number of entries on a page of the log. A page has more entries if several have the same time as the last one.
const PAGE_SIZE: u32 = 1_000;

#[get("/floods/log")]
pub(super) async fn list_all_flood_changes(
    _authorized: Authorized<FloodsWrite>,
    since: QueryParam<LogSince>,
    until: QueryParam<LogUntil>,
    before: QueryParam<BeforeTime>,
    by: QueryParam<LogAuthor>,
    batch: QueryParam<LogBatch>,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let query = FloodLogQuery {
        since: since.0,
        until: until.0,
        before: before.0,
        by: by.get().0,
        batch: batch.0,
        most: PAGE_SIZE,
    };
    let places = store.places().await?.value;
    let log = store.all_flood_changes(&query).await?;
    let entries = log.iter().map(
        |LoggedChange { change: FloodChange { area, state, at, by, .. }, batch, note, undoes }| {
            let mut entry = area_members(places.areas(), *area);
            entry.extend(object_members(json!({
                "changed_at": at, "state": state, "subject": by.subject, "username": by.username,
                "batch": batch.map(BatchNumber::get), "note": note, "undoes": undoes.map(BatchNumber::get),
            })));
            entry
        },
    );
    ApiResponse::private_result(&entries.collect::<Vec<_>>())
}
