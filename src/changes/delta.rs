use serde::{Serialize, Serializer};

use super::Cursor;
use crate::model::{AreaId, FloodState, ReportKey, Timestamp};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Delta {
    #[serde(serialize_with = "text")]
    pub(crate) cursor: Cursor,
    /// Whether `areas` has all areas with a state. If so, the client discards its other states; otherwise it keeps them.
    pub(crate) full: bool,
    /// The areas whose state changed; if `full`, all areas with a state.
    pub(crate) areas: Vec<AreaState>,
    /// The other resources that changed. Clients request these again.
    pub(crate) changed: Vec<&'static str>,
    /// The reports that moderators have hidden or erased. Clients remove these.
    pub(crate) gone_reports: Vec<ReportKey>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct AreaState {
    pub(crate) area_id: AreaId,
    /// `None` if the area has no state, or a state below the requested minimum.
    pub(crate) state: Option<FloodState>,
    /// When the state was last set, confirmed or restored.
    pub(crate) last_updated: Option<Timestamp>,
    pub(crate) flooded_since: Option<Timestamp>,
    /// When the state was last set or confirmed by a person.
    pub(crate) confirmed: Option<Timestamp>,
    /// When the last flood ended, if the area is dry now.
    pub(crate) over_since: Option<Timestamp>,
}

impl Delta {
    /// Whether the delta contains nothing new for the client.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        !self.full && self.areas.is_empty() && self.changed.is_empty() && self.gone_reports.is_empty()
    }
}

fn text<S: Serializer>(cursor: &Cursor, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cursor)
}
