use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use super::alerts::LogEntry;
use super::{AreaId, Timestamp};

/// The height of the water in an area. Ordered like the codes: the unknown level ("take care") is below all measured levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FloodState {
    /// Code 1: an unknown level of flooding.
    Unknown = 1,
    /// Code 2: 10 to 70 cm.
    Minor,
    /// Code 3: 71 to 150 cm.
    Moderate,
    /// Code 4: over 150 cm.
    Severe,
}

/// Error for a number that is not the code of a [`FloodState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [1, 2, 3, 4]")]
pub struct InvalidFloodState;

impl FloodState {
    /// All states, lowest code first.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Minor, Self::Moderate, Self::Severe];

    /// Returns the state for a depth: minor under 70 cm, moderate up to 150 cm, severe above.
    #[must_use]
    pub(crate) fn from_depth(centimetres: f64) -> Self {
        match centimetres {
            depth if depth < 70.0 => Self::Minor,
            depth if depth <= 150.0 => Self::Moderate,
            _ => Self::Severe,
        }
    }

    /// Returns the code in responses, 1 to 4.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the official CSS colour of the state on maps.
    #[must_use]
    pub fn colour(self) -> &'static str {
        match self {
            Self::Unknown => "#a0a9f7",
            Self::Minor => "#ffff00",
            Self::Moderate => "#ff8300",
            Self::Severe => "#cc2a41",
        }
    }

    /// Returns the name, which is also the CAP 1.2 `severity`.
    #[must_use]
    pub fn severity(self) -> &'static str {
        match self {
            Self::Unknown => "Unknown",
            Self::Minor => "Minor",
            Self::Moderate => "Moderate",
            Self::Severe => "Severe",
        }
    }
}

impl TryFrom<u64> for FloodState {
    type Error = InvalidFloodState;

    fn try_from(code: u64) -> Result<Self, InvalidFloodState> {
        Self::ALL.into_iter().find(|state| u64::from(state.code()) == code).ok_or(InvalidFloodState)
    }
}

impl FromStr for FloodState {
    type Err = InvalidFloodState;

    fn from_str(text: &str) -> Result<Self, InvalidFloodState> {
        match text.as_bytes() {
            [digit @ b'1'..=b'4'] => u64::from(digit - b'0').try_into(),
            _ => Err(InvalidFloodState),
        }
    }
}

impl Serialize for FloodState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.code())
    }
}

/// The flood state of an area, with its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentState {
    /// The state.
    pub state: FloodState,
    /// When the state was last set, confirmed or restored: the time of its log entry.
    pub last_updated: Timestamp,
    /// When the flood began: the time of the first log entry after the area was last dry. `None` for a state at a past time.
    pub flooded_since: Option<Timestamp>,
    /// When the state was last set or confirmed. Undoing a later change restores this time. `None` for a state at a past time.
    pub confirmed: Option<Timestamp>,
}

/// Whether an area is flooded, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloodStatus {
    /// The area has a state.
    Flooded(CurrentState),
    /// The area has no state.
    Dry {
        /// The time of the last log entry; `None` without entries, and for the status at a past time.
        cleared: Option<Timestamp>,
        /// When the last flood ended; `None` if the area was never flooded, and for the status at a past time.
        over_since: Option<Timestamp>,
    },
}

impl FloodStatus {
    /// The status of an area that was never flooded.
    pub const NEVER_FLOODED: Self = Self::Dry { cleared: None, over_since: None };

    /// Returns the status after the first change of an area.
    #[must_use]
    pub fn after_first(change: StateChange) -> Self {
        LogEntry::following(change, change.at, None).status()
    }

    /// Returns the state, if any.
    #[must_use]
    pub fn current(&self) -> Option<CurrentState> {
        match self {
            Self::Flooded(current) => Some(*current),
            Self::Dry { .. } => None,
        }
    }

    /// Returns when the last flood of a dry area ended; `None` for a flooded area.
    #[must_use]
    pub fn over_since(&self) -> Option<Timestamp> {
        match self {
            Self::Flooded(_) => None,
            Self::Dry { over_since, .. } => *over_since,
        }
    }

    /// Returns the time of the newest log entry.
    #[must_use]
    pub fn last_changed(&self) -> Option<Timestamp> {
        match self {
            Self::Flooded(current) => Some(current.last_updated),
            Self::Dry { cleared, .. } => *cleared,
        }
    }
}

/// The author of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// The subject of the credential: the name of an API key or the `sub` of a token.
    pub subject: String,
    /// The user on whose behalf the caller claims to act; unverified.
    pub username: Option<String>,
}

impl Actor {
    pub(crate) fn name(&self) -> &str {
        self.username.as_ref().unwrap_or(&self.subject)
    }
}

/// A change of the state of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// The new state; `None` if the state was cleared.
    pub state: Option<FloodState>,
    /// When the change took effect.
    pub at: Timestamp,
}

/// A log entry: a change of the state of an area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloodChange {
    /// The area.
    pub area: AreaId,
    /// The new state; `None` if the state was cleared.
    pub state: Option<FloodState>,
    /// When the change took effect.
    pub at: Timestamp,
    /// When the store received the change, by the server's clock. Before `at` if the area's previous entry has a later time.
    pub received: Timestamp,
    /// The author.
    pub by: Actor,
}

impl FloodChange {
    /// Returns the change without area and author.
    #[must_use]
    pub fn change(&self) -> StateChange {
        StateChange { state: self.state, at: self.at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bands_of_depth_meet_at_70_and_150_centimetres() {
        for (depth, state) in [
            (0.0, FloodState::Minor),
            (69.9, FloodState::Minor),
            (70.0, FloodState::Moderate),
            (150.0, FloodState::Moderate),
            (150.1, FloodState::Severe),
        ] {
            assert_eq!(FloodState::from_depth(depth), state, "{depth}");
        }
    }
}
