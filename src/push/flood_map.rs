use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::subscription::Subscription;
use crate::model::alerts::CONFIRMED_FOR;
use crate::model::bodies::PushAreas;
use crate::model::{Area, AreaId, AreaSet, FloodLayer, FloodStatus, Timestamp};

/// The status of all areas at one time.
#[derive(Clone, Debug)]
pub(crate) struct FloodMap {
    areas: Arc<AreaSet>,
    statuses: BTreeMap<u64, FloodStatus>,
}

/// The last change of an area. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    at: i64,
    /// 0 without a state.
    state: u8,
    has_lapsed: bool,
    /// When the flood began; 0 without one.
    since: i64,
}

impl Mark {
    pub(super) fn new(status: &FloodStatus, now: Timestamp) -> Option<Self> {
        let millis = |at: Timestamp| at.to_utc().timestamp_millis();
        Some(match status {
            FloodStatus::Flooded(current) => Self {
                at: millis(current.last_updated),
                state: current.state.code(),
                has_lapsed: has_lapsed(status, now),
                since: millis(current.flooded_since.unwrap_or(current.last_updated)),
            },
            FloodStatus::Dry { cleared, .. } => {
                Self { at: millis((*cleared)?), state: 0, has_lapsed: false, since: 0 }
            }
        })
    }

    /// Whether a message about this change is due if the last one was about `other`. A confirmation of the same state is no news, the
    /// same state of another flood is.
    pub(super) fn is_news_after(self, other: Option<Self>) -> bool {
        other.is_none_or(|other| {
            (self.state, self.has_lapsed) != (other.state, other.has_lapsed) || self.since > other.at
        })
    }

    /// Whether the change is not too old for a message.
    pub(super) fn is_recent(self, now: Timestamp) -> bool {
        let limit = if self.has_lapsed { 2 * CONFIRMED_FOR } else { CONFIRMED_FOR };
        Timestamp::from_millis(self.at).is_some_and(|at| now.saturating_duration_since(at) <= limit)
    }

    pub(super) fn is_before(self, at: Timestamp) -> bool {
        self.at < at.to_utc().timestamp_millis()
    }
}

impl FloodMap {
    /// Creates the map of a layer with all areas.
    pub(crate) fn new(layer: &FloodLayer) -> Self {
        let areas = Arc::clone(layer.areas());
        let status = |(position, status): &(usize, FloodStatus)| (areas[*position].id.number(), *status);
        let statuses = layer.selected().iter().map(status).collect();
        Self { areas, statuses }
    }

    /// Returns the mark of each area that was ever flooded.
    pub(super) fn marks(&self, now: Timestamp) -> BTreeMap<u64, Mark> {
        self.statuses.iter().filter_map(|(area, status)| Some((*area, Mark::new(status, now)?))).collect()
    }

    /// Returns the areas of a subscription with their status.
    pub(super) fn selected<'m>(
        &'m self,
        subscription: &'m Subscription,
    ) -> impl Iterator<Item = (&'m Area, FloodStatus)> + 'm {
        let selected = self.areas.iter().filter(|area| subscription.selects(area));
        selected.filter_map(|area| Some((area, *self.statuses.get(&area.id.number())?)))
    }

    /// Returns the areas of a subscription that are flooded, at its minimum state or above.
    pub(super) fn flooded(&self, subscription: &Subscription, now: Timestamp) -> BTreeMap<u64, Mark> {
        let is_flooded = |status: &FloodStatus| {
            status.current().is_some_and(|current| current.state >= subscription.minimum_state())
        };
        let flooded = self.selected(subscription).filter(|(_, status)| is_flooded(status));
        flooded.filter_map(|(area, status)| Some((area.id.number(), Mark::new(&status, now)?))).collect()
    }

    /// Returns which of the areas of a body exist; none if it has a larger area.
    pub(super) fn known(&self, areas: &PushAreas) -> Vec<AreaId> {
        match areas {
            PushAreas::Areas(areas) => {
                areas.iter().filter(|id| self.areas.find(**id).is_some()).copied().collect()
            }
            PushAreas::Parent { .. } => Vec::new(),
        }
    }

    /// Whether a subscription is about one of these areas.
    pub(super) fn touches(&self, subscription: &Subscription, areas: &BTreeMap<u64, Mark>) -> bool {
        let is_selected = |id: &u64| {
            let area = AreaId::try_from(*id).ok().and_then(|id| self.areas.find(id));
            area.is_some_and(|area| subscription.selects(area))
        };
        match subscription.areas() {
            [] => areas.keys().any(is_selected),
            own => own.iter().any(|id| areas.contains_key(id)),
        }
    }
}

/// Whether nobody has confirmed the state for so long that no alert is in force.
pub(super) fn has_lapsed(status: &FloodStatus, now: Timestamp) -> bool {
    let confirmed = status.current().and_then(|current| current.confirmed);
    confirmed.is_some_and(|confirmed| now.saturating_duration_since(confirmed) > CONFIRMED_FOR)
}
