use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::FloodMap;
use super::encryption::BrowserKeys;
use super::flood_map::Mark;
use crate::auth::KeyDigest;
use crate::model::bodies::{PushAreas, PushBody};
use crate::model::{Area, FloodState, Timestamp, readable};
use crate::stores::{NewPushRecord, PushRecord, PushUpdate};

/// A phone gets at most one message in this time.
const INTERVAL: Duration = Duration::from_mins(1);

/// The text of a stored record: the choice of a person, and which messages were sent. Has nothing finer than an area, and nothing
/// that names a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subscription {
    p256dh: String,
    auth: String,
    /// The SHA-256 of the secret with which the phone changes the subscription.
    secret: String,
    areas: Vec<u64>,
    /// The larger area and its city, instead of areas.
    parent: Option<(String, String)>,
    pub(super) language: String,
    minimum_state: Option<u8>,
    created: Timestamp,
    pub(super) renewed: Timestamp,
    /// When the push service last accepted a message.
    pub(super) accepted: Timestamp,
    /// The last fan-out that reached the subscription.
    pub(super) fan_out: u64,
    /// The flooded areas at the last message, or when the person subscribed, each with its last change then.
    pub(super) sent: BTreeMap<u64, Mark>,
    /// Attempts that failed since the last one that succeeded, and when the first of them was made.
    pub(super) failures: u32,
    pub(super) failed_since: Option<Timestamp>,
}

impl Subscription {
    /// Creates the subscription of a body whose keys are valid.
    pub(super) fn new(body: &PushBody, secret: &str, map: &FloodMap, now: Timestamp) -> Self {
        let (areas, parent) = match &body.areas {
            PushAreas::Areas(areas) => (areas.iter().map(|area| area.number()).collect(), None),
            PushAreas::Parent { parent_name, city_name } => {
                (Vec::new(), Some((parent_name.clone(), city_name.clone())))
            }
        };
        let mut subscription = Self {
            p256dh: body.p256dh.clone(),
            auth: body.auth.clone(),
            secret: KeyDigest::new(secret).to_hex(),
            areas,
            parent,
            language: body.language.clone(),
            minimum_state: body.minimum_state.map(FloodState::code),
            created: now,
            renewed: now,
            accepted: now,
            fan_out: 0,
            sent: BTreeMap::new(),
            failures: 0,
            failed_since: None,
        };
        subscription.sent = map.flooded(&subscription, now);
        subscription
    }

    /// Parses the text of a record.
    pub(super) fn read(record: &PushRecord) -> Option<Self> {
        serde_json::from_str(&record.content.text).ok()
    }

    /// Returns the update that stores the subscription with its due time.
    pub(super) fn update(&self, record: &PushRecord, due: Option<Timestamp>) -> PushUpdate {
        let content = NewPushRecord { due, text: self.text(), ..record.content.clone() };
        PushUpdate { id: record.id, version: record.version, content: Some(content) }
    }

    pub(super) fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Whether `secret` is the one of this subscription. Compares in constant time.
    pub(super) fn is_secret(&self, secret: &str) -> bool {
        KeyDigest::try_from(self.secret.clone()).is_ok_and(|digest| digest == KeyDigest::new(secret))
    }

    /// Returns this replacement of an earlier subscription of the same phone, which still gets the messages that were due.
    /// `is_confirmed` says whether its push service has just accepted a message.
    pub(super) fn replacing(self, earlier: Self, map: &FloodMap, is_confirmed: bool) -> Self {
        let mut sent = self.sent.clone();
        // An area that was chosen before keeps the change that was sent.
        for (area, _) in map.selected(&earlier).filter(|(area, _)| self.selects(area)) {
            let id = area.id.number();
            sent.remove(&id);
            sent.extend(earlier.sent.get(&id).map(|mark| (id, *mark)));
        }
        let accepted = if is_confirmed { self.accepted } else { earlier.accepted };
        let Self { secret, created, fan_out, .. } = earlier;
        Self { secret, created, accepted, fan_out, sent, ..self }
    }

    /// Notes that the push service has accepted a message about `flooded` areas. `written` is the subscription as it was when the
    /// message was written: a renewal may have chosen other areas since then.
    pub(super) fn note_sent(&mut self, written: &Self, flooded: &BTreeMap<u64, Mark>, now: Timestamp) {
        self.sent.retain(|area, _| !written.sent.contains_key(area));
        self.sent.extend(flooded);
        self.accepted = now;
        (self.failures, self.failed_since) = (0, None);
    }

    /// Whether another version has the same secret.
    pub(super) fn is_same_phone(&self, other: &Self) -> bool {
        self.secret == other.secret
    }

    pub(super) fn keys(&self) -> Option<BrowserKeys> {
        BrowserKeys::decode(&self.p256dh, &self.auth)
    }

    /// The chosen areas; empty if a larger area was chosen.
    pub(super) fn areas(&self) -> &[u64] {
        &self.areas
    }

    /// The name of the chosen larger area, for people.
    pub(super) fn parent(&self) -> Option<String> {
        self.parent.as_ref().map(|(parent, _)| readable(parent))
    }

    /// Whether the subscription is about an area.
    pub(super) fn selects(&self, area: &Area) -> bool {
        match &self.parent {
            Some((parent, city)) => area.parent_name == *parent && area.city_name == *city,
            None => self.areas.contains(&area.id.number()),
        }
    }

    pub(super) fn minimum_state(&self) -> FloodState {
        let minimum = self.minimum_state.map(u64::from).and_then(|code| code.try_into().ok());
        minimum.unwrap_or(FloodState::Unknown)
    }

    /// Returns the earliest time of the next message.
    pub(super) fn next_message(&self, now: Timestamp) -> Timestamp {
        now.max(self.accepted.saturating_add(INTERVAL))
    }
}
