use serde_json::Value;

use super::fields::{Fault, Fields, Object, code, read, whole};
use crate::model::{AreaId, Condition, FloodState, InvalidAreaId};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BatchBody {
    pub(crate) changes: Vec<BatchItemBody>,
    pub(crate) note: Option<String>,
    pub(crate) preview: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BatchItemBody {
    pub(crate) area: AreaName,
    /// The new state; `None` clears the state.
    pub(crate) state: Option<FloodState>,
    pub(crate) after: Condition,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AreaName {
    Id(AreaId),
    Geometry(String),
}

pub(crate) const MAX_AREAS: usize = 1_000;
/// The maximum length of a note, in characters.
pub(crate) const MAX_NOTE: usize = 1_000;

pub(crate) fn read_flood_order(body: &Object) -> Result<BatchBody, Vec<Fault>> {
    read(body, |fields| {
        let note = note(fields);
        let preview = fields.boolean("preview");
        let changes = fields.required("changes", |fields, key| {
            let count = fields.get(key).and_then(Value::as_array).map_or(1, Vec::len);
            if !(1..=MAX_AREAS).contains(&count) {
                fields.fault(key, format!("must name 1 to {MAX_AREAS} areas"));
                return None;
            }
            fields.objects(key, change)
        });
        Some(BatchBody { changes: changes?, note, preview })
    })
}

fn note(fields: &Fields<'_>) -> Option<String> {
    let must = format!("must be a text of at most {MAX_NOTE} characters without control characters");
    let note = fields.convert("note", must, |value| {
        value.as_str().filter(|text| text.chars().count() <= MAX_NOTE && !text.contains(char::is_control))
    });
    note.filter(|note| !note.is_empty()).map(str::to_owned)
}

/// Reads the new state of one area and the condition `after`; null in `after` requires that the area has no state.
fn change(fields: &Fields<'_>) -> Option<BatchItemBody> {
    let area = match (fields.get("area_id"), fields.get("geom_id")) {
        (Some(_), None) => fields.convert("area_id", InvalidAreaId, area_id).map(AreaName::Id),
        (None, Some(_)) => fields.name("geom_id").map(|name| AreaName::Geometry(name.to_owned())),
        _ => {
            fields.fault("area_id", "or \"geom_id\" is required, not both");
            None
        }
    };
    let state = if fields.is_null("state") {
        Some(None)
    } else {
        let state = fields.get("state").and_then(code);
        if state.is_none() {
            fields.fault("state", "must be one of [1, 2, 3, 4], or null to clear it");
        }
        state.map(Some)
    };
    let after = match fields.get("after") {
        Some(_) => fields.moment("after").map(Condition::SetAt),
        None if fields.is_null("after") => Some(Condition::Dry),
        None => Some(Condition::Any),
    };
    Some(BatchItemBody { area: area?, state: state?, after: after? })
}

pub(super) fn area_id(value: &Value) -> Option<AreaId> {
    match value.as_str() {
        Some(text) => text.parse().ok(),
        None => u64::try_from(whole(value)?).ok()?.try_into().ok(),
    }
}
