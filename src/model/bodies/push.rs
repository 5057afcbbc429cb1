use std::collections::BTreeSet;

use serde_json::Value;

use super::batch::area_id;
use super::fields::{Fault, Fields, Object, read, whole};
use crate::model::{AreaId, FloodState, InvalidAreaId};

/// The maximum number of areas of a subscription.
pub(crate) const MAX_PUSH_AREAS: usize = 10;
/// The maximum length of an endpoint, in characters.
pub(crate) const MAX_ENDPOINT: usize = 1_000;

/// A browser's subscription, and the areas that it is for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PushBody {
    pub(crate) endpoint: String,
    pub(crate) p256dh: String,
    pub(crate) auth: String,
    pub(crate) areas: PushAreas,
    pub(crate) language: String,
    pub(crate) minimum_state: Option<FloodState>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PushAreas {
    Areas(Vec<AreaId>),
    /// A larger area, whose areas are those at the time of a message.
    Parent {
        parent_name: String,
        city_name: String,
    },
}

pub(crate) fn read_push_subscription(body: &Object) -> Result<PushBody, Vec<Fault>> {
    read(body, |fields| {
        let endpoint = fields.required("endpoint", |fields, key| {
            let must = format!("must be an address of at most {MAX_ENDPOINT} characters");
            let is_short =
                |text: &&str| text.chars().count() <= MAX_ENDPOINT && !text.contains(char::is_control);
            fields.convert(key, must, |value| value.as_str().filter(is_short))
        });
        let keys = fields.required("keys", |fields, key| {
            fields.object(key, |keys| {
                let [p256dh, auth] = ["p256dh", "auth"].map(|key| keys.required(key, Fields::text));
                Some((p256dh?.to_owned(), auth?.to_owned()))
            })
        });
        let areas = areas(fields);
        let language = fields.required("language", Fields::name);
        let must = crate::model::InvalidFloodState;
        let minimum_state =
            fields.convert("minimum_state", must, |value| u64::try_from(whole(value)?).ok()?.try_into().ok());
        let (p256dh, auth) = keys?;
        Some(PushBody {
            endpoint: endpoint?.to_owned(),
            p256dh,
            auth,
            areas: areas?,
            language: language?.to_owned(),
            minimum_state,
        })
    })
}

fn areas(fields: &Fields<'_>) -> Option<PushAreas> {
    match (fields.get("areas"), fields.get("parent")) {
        (Some(_), None) => {
            let must = format!(
                "must be an array of 1 to {MAX_PUSH_AREAS} different identifiers: each {InvalidAreaId}"
            );
            let ids = |value: &Value| {
                let ids: Option<Vec<_>> = value.as_array()?.iter().map(area_id).collect();
                let is_different = |ids: &[AreaId]| ids.iter().collect::<BTreeSet<_>>().len() == ids.len();
                ids.filter(|ids| (1..=MAX_PUSH_AREAS).contains(&ids.len()) && is_different(ids))
            };
            fields.convert("areas", must, ids).map(PushAreas::Areas)
        }
        (None, Some(_)) => fields.object("parent", |parent| {
            let parent_name = parent.required("parent_name", Fields::name);
            let city_name = parent.name_or_empty("city_name").unwrap_or_default().to_owned();
            Some(PushAreas::Parent { parent_name: parent_name?.to_owned(), city_name })
        }),
        _ => {
            fields.fault("areas", "or \"parent\" is required, not both");
            None
        }
    }
}
