use serde::{Serialize, Serializer};

use super::Cursor;
use crate::model::{AreaId, FloodState, ReportKey, Timestamp};

/// What changed since a cursor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Delta {
    /// What the client sends next time.
    #[serde(serialize_with = "text")]
    pub(crate) cursor: Cursor,
    /// Whether these are all states: the client forgets the others. If not, other areas are as they were.
    pub(crate) full: bool,
    /// The areas whose state changed, by `area_id`.
    pub(crate) areas: Vec<AreaState>,
    /// The names of the other resources that changed: clients request them again.
    pub(crate) changed: Vec<&'static str>,
    /// The reports that moderators have hidden or erased: the client removes them.
    pub(crate) gone_reports: Vec<ReportKey>,
}

/// The current state of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct AreaState {
    /// The area.
    pub(crate) area_id: AreaId,
    /// Its state; `None` if it has none, or a lower one than the client asked for.
    pub(crate) state: Option<FloodState>,
    /// When the state was last set, confirmed or restored; `None` without a state.
    pub(crate) last_updated: Option<Timestamp>,
    /// When the flood began.
    pub(crate) flooded_since: Option<Timestamp>,
    /// When somebody last set or confirmed the state.
    pub(crate) confirmed: Option<Timestamp>,
    /// When the last flood was over, if the area is dry and was flooded before.
    pub(crate) over_since: Option<Timestamp>,
}

impl Delta {
    /// Returns whether there is nothing that the client does not know.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        !self.full && self.areas.is_empty() && self.changed.is_empty() && self.gone_reports.is_empty()
    }
}

fn text<S: Serializer>(cursor: &Cursor, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cursor)
}
