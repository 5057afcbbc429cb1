use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rocket::serde::json::{Value, json};
use serde_json::Map;

use super::Author;
use crate::guards::{IdempotencyKey, JsonBody};
use crate::http::error::{Problem, Source};
use crate::model::alerts::{LogEntry, MessageType, log_window_start, messages};
use crate::model::bodies::{AreaName, BatchItemBody, read_flood_order};
use crate::model::{
    AreaId, AreaSelector, AreaSet, BatchItem, BatchNumber, BatchOperation, BatchOutcome, BatchRequest,
    FloodBatch, RequestKey, Timestamp,
};
use crate::rendering::ApiResponse;
use crate::stores::{EntryQuery, Store};
use crate::telemetry::Metrics;

pub(crate) async fn change_batch(
    Author { by, limit }: Author,
    key: IdempotencyKey,
    body: JsonBody,
    store: &Arc<dyn Store>,
    metrics: &Metrics,
) -> Result<ApiResponse, Problem> {
    let read = read_flood_order(&body.0).map_err(|faults| Problem::faults(&faults))?;
    let places = store.places().await?.value;
    let request = BatchRequest {
        changes: BatchOperation::Set(batch_items(places.areas(), read.changes)?),
        by,
        limit,
        note: read.note,
        request: request_key(key, "change", body.0).filter(|_| !read.preview),
        preview: read.preview,
    };
    apply_batch(store, metrics, places.areas(), request).await
}

pub(crate) async fn undo_batch(
    Author { by, limit }: Author,
    key: IdempotencyKey,
    batch: BatchNumber,
    store: &Arc<dyn Store>,
    metrics: &Metrics,
) -> Result<ApiResponse, Problem> {
    let undone = Map::from_iter([("batch".to_owned(), batch.get().into())]);
    let request = BatchRequest {
        changes: BatchOperation::Undo(batch),
        by,
        limit,
        note: None,
        request: request_key(key, "undo", undone),
        preview: false,
    };
    let places = store.places().await?.value;
    apply_batch(store, metrics, places.areas(), request).await
}

fn request_key(key: IdempotencyKey, action: &str, content: Map<String, Value>) -> Option<RequestKey> {
    let request = json!({ action: content }).to_string();
    key.0.map(|id| RequestKey { id, digest: *blake3::hash(request.as_bytes()).as_bytes() })
}

/// Converts the changes of the body to batch items. Fails if an area is unknown, or if two changes name the same area.
fn batch_items(areas: &AreaSet, changes: Vec<BatchItemBody>) -> Result<Vec<BatchItem>, Problem> {
    let mut by_geometry: HashMap<&str, Vec<AreaId>> = HashMap::new();
    if changes.iter().any(|change| matches!(change.area, AreaName::Geometry(_))) {
        for area in areas {
            by_geometry.entry(&area.geom_id).or_default().push(area.id);
        }
    }
    let (mut items, mut seen, mut unknown) = (Vec::new(), HashSet::new(), Vec::new());
    for (number, BatchItemBody { area, state, after }) in changes.into_iter().enumerate() {
        let invalid = |key, must| Problem::invalid(Source::Body, &format!("changes.{number}.{key}"), must);
        let (area, key) = match &area {
            AreaName::Id(area) => (*area, "area_id"),
            AreaName::Geometry(geometry) => match by_geometry.get(geometry.as_str()).map(Vec::as_slice) {
                Some([area]) => (*area, "geom_id"),
                Some(_) => return Err(invalid("geom_id", "must be that of one area; use \"area_id\"")),
                None => {
                    unknown.push(geometry.clone());
                    continue;
                }
            },
        };
        if areas.find(area).is_none() {
            unknown.push(area.to_string());
        }
        if !seen.insert(area) {
            return Err(invalid(key, "must name an area that no other change names"));
        }
        items.push(BatchItem { area, state, after });
    }
    if unknown.is_empty() { Ok(items) } else { Err(Problem::unknown_areas(unknown)) }
}

/// Stores the batch and counts its changes in the metrics. A preview does neither, and its batch number is `null`.
async fn apply_batch(
    store: &Arc<dyn Store>,
    metrics: &Metrics,
    areas: &AreaSet,
    request: BatchRequest,
) -> Result<ApiResponse, Problem> {
    let preview = request.preview;
    match store.change_floods(request).await? {
        BatchOutcome::Done { batch, left } => {
            let mut result = batch_json(areas, &batch);
            if preview {
                result["alerts"] = alert_counts(&**store, &batch).await?;
                result["batch"] = Value::Null;
            } else {
                batch.changes.iter().for_each(|_| metrics.flood_changed());
            }
            if batch.undoes.is_some() {
                result["left"] = json!(left);
            }
            ApiResponse::private_result(&result)
        }
        BatchOutcome::NoSuchAreas(unknown) => {
            Err(Problem::unknown_areas(unknown.iter().map(ToString::to_string).collect()))
        }
        BatchOutcome::OutsideLimit(outside) => Err(Problem::outside_limit(&outside)),
        BatchOutcome::Conflicts(conflicts) => {
            let conflicts = conflicts.into_iter().map(|(area, newest)| {
                let mut conflict = area_members(areas, area);
                let by = newest.as_ref().map(|newest| &newest.by);
                conflict.extend(object_members(json!({
                    "state": newest.as_ref().and_then(|newest| newest.state),
                    "since": newest.as_ref().map(|newest| newest.at),
                    "by": by.map(|by| &by.subject),
                    "username": by.and_then(|by| by.username.as_ref()),
                })));
                conflict.into()
            });
            Err(Problem::edit_conflicts(conflicts.collect()))
        }
        BatchOutcome::NoSuchBatch => Err(Problem::not_found("this batch")),
        BatchOutcome::TooOld => {
            Err(Problem::conflict("the batch is older than a day; set the states instead"))
        }
        BatchOutcome::OtherRequest => {
            Err(Problem::unprocessable("this Idempotency-Key belongs to another request; use a new one"))
        }
    }
}

fn batch_json(areas: &AreaSet, batch: &FloodBatch) -> Value {
    let changed = batch.changes.iter().map(|(area, state)| {
        let mut change = area_members(areas, *area);
        // A dry area has no `last_updated`, as in the responses of `/floods`.
        change.extend(object_members(json!({ "state": state, "last_updated": state.map(|_| batch.at) })));
        change
    });
    json!({
        "batch": batch.number.get(),
        "changed_at": batch.at,
        "changed": changed.collect::<Vec<_>>(),
    })
}

pub(crate) fn area_members(areas: &AreaSet, id: AreaId) -> Map<String, Value> {
    let area = areas.find(id);
    object_members(json!({
        "area_id": id,
        "area_name": area.map(|area| &area.name),
        "parent_name": area.map(|area| &area.parent_name),
    }))
}

pub(crate) fn object_members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Counts, by type, the alert messages that a batch would trigger immediately.
async fn alert_counts(store: &dyn Store, batch: &FloodBatch) -> Result<Value, Problem> {
    let query = EntryQuery {
        selector: AreaSelector::default(),
        area: None,
        from: log_window_start(batch.at),
        until: Timestamp::LAST,
    };
    let entries: HashMap<AreaId, Vec<LogEntry>> =
        store.flood_entries(&query).await?.value.into_iter().collect();
    let (mut new, mut updates, mut cancels) = (0, 0, 0);
    for change in batch.entries(batch.at) {
        let mut log = entries.get(&change.area).cloned().unwrap_or_default();
        let (newest, before) = (log.last(), log.iter().rev().nth(1));
        let entry = match batch.undoes {
            Some(_) => LogEntry::restoring(change.change(), change.received, before, newest),
            None => LogEntry::following(change.change(), change.received, newest),
        };
        log.push(entry);
        let before = Timestamp::from_millis(batch.at.to_utc().timestamp_millis() - 1).unwrap_or(batch.at);
        for message in messages(&log, before, batch.at) {
            match message.message_type {
                MessageType::Alert => new += 1,
                MessageType::Update => updates += 1,
                MessageType::Cancel => cancels += 1,
            }
        }
    }
    Ok(json!({ "new": new, "updates": updates, "cancels": cancels }))
}
