use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::{AreaId, Timestamp};

/// How high the water stands in an area.
///
/// The order of the variants is the order of severity as the codes have it: an unknown level, used
/// for "take care", ranks below a measured one.
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

/// A number that is no code of a [`FloodState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [1, 2, 3, 4]")]
pub struct InvalidFloodState;

impl FloodState {
    /// Every state, lowest code first.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Minor, Self::Moderate, Self::Severe];

    /// The state of an area in which the water stands this deep, in centimetres: under 70 minor, up to 150 moderate,
    /// above severe.
    #[must_use]
    pub fn of_depth(centimetres: f64) -> Self {
        match centimetres {
            depth if depth < 70.0 => Self::Minor,
            depth if depth <= 150.0 => Self::Moderate,
            _ => Self::Severe,
        }
    }

    /// The code shown in answers, 1 to 4.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The name of the severity, which is also its CAP 1.2 `severity`.
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

    /// Reads the code as one digit.
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

/// The flood state an area has, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The state.
    pub state: FloodState,
    /// When it was set.
    pub since: Timestamp,
}

/// Who made a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The subject of the credential: the name of an API key or the `sub` of a token.
    pub subject: String,
    /// The user the caller says it acts for, as sent; nothing vouches for it.
    pub username: Option<String>,
}

/// One area's state was set or cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// The new state; `None` is a clearing.
    pub state: Option<FloodState>,
    /// When the change took effect.
    pub at: Timestamp,
}

impl StateChange {
    /// The state in effect from the change on; `None` when it clears the area.
    #[must_use]
    pub fn standing(self) -> Option<Standing> {
        self.state.map(|state| Standing { state, since: self.at })
    }
}

/// An entry of the log: one area's state was set or cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloodChange {
    /// The area.
    pub area: AreaId,
    /// The new state; `None` is a clearing.
    pub state: Option<FloodState>,
    /// When the change took effect.
    pub at: Timestamp,
    /// Who made it.
    pub by: Actor,
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
            assert_eq!(FloodState::of_depth(depth), state, "{depth}");
        }
    }
}
