use crate::model::Timestamp;

/// What an operator watches about the data: how new it is, and how many areas are flooded.
///
/// Of reports and readings those count that are not dated after now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// When the newest change of a flood state took effect, the clearing of an area included; `None` if there is none.
    pub newest_flood_change: Option<Timestamp>,
    /// The date of the newest report; `None` if there is none.
    pub newest_report: Option<Timestamp>,
    /// The date of the newest gauge reading; `None` if there is none.
    pub newest_reading: Option<Timestamp>,
    /// How many areas have each state, from 1 to 4.
    pub flooded_areas: [u64; 4],
}
