use serde::{Serialize, Serializer};

use super::Cursor;
use crate::model::{AreaId, FloodState, ReportKey, Timestamp};

/// What changed since a cursor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delta {
    /// What the client sends next time.
    #[serde(serialize_with = "text")]
    pub cursor: Cursor,
    /// Whether these are all states: the client forgets the others. If not, other areas are as they were.
    pub full: bool,
    /// The areas whose state changed, by `area_id`.
    pub areas: Vec<AreaState>,
    /// The names of the other resources that changed: clients request them again.
    pub changed: Vec<&'static str>,
    /// The reports that moderators have hidden or erased: the client removes them.
    pub gone_reports: Vec<ReportKey>,
}

/// The current state of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AreaState {
    /// The area.
    pub area_id: AreaId,
    /// Its state; `None` if it has none, or a lower one than the client asked for.
    pub state: Option<FloodState>,
    /// When the state was set; `None` without a state.
    pub last_updated: Option<Timestamp>,
}

impl Delta {
    /// Returns whether there is nothing that the client does not know.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.full && self.areas.is_empty() && self.changed.is_empty() && self.gone_reports.is_empty()
    }
}

fn text<S: Serializer>(cursor: &Cursor, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cursor)
}
