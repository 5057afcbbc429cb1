use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What kind of disaster a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum DisasterType {
    /// Flood.
    Flood,
    /// Earthquake.
    Earthquake,
    /// Forest fire.
    Fire,
    /// Haze.
    Haze,
    /// Extreme wind.
    Wind,
    /// Volcano.
    Volcano,
    /// Preparedness: no disaster yet, something to mend before one. Listed only when asked for.
    Prep,
}

/// A text that names no [`DisasterType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [flood, earthquake, fire, haze, wind, volcano, prep]")]
pub struct UnknownDisasterType;

impl DisasterType {
    /// Every type.
    pub const ALL: [Self; 7] =
        [Self::Flood, Self::Earthquake, Self::Fire, Self::Haze, Self::Wind, Self::Volcano, Self::Prep];

    /// The name in requests and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flood => "flood",
            Self::Earthquake => "earthquake",
            Self::Fire => "fire",
            Self::Haze => "haze",
            Self::Wind => "wind",
            Self::Volcano => "volcano",
            Self::Prep => "prep",
        }
    }
}

impl AsRef<str> for DisasterType {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

impl fmt::Display for DisasterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DisasterType {
    type Err = UnknownDisasterType;

    fn from_str(name: &str) -> Result<Self, UnknownDisasterType> {
        Self::ALL.into_iter().find(|known| known.name() == name).ok_or(UnknownDisasterType)
    }
}

impl TryFrom<String> for DisasterType {
    type Error = UnknownDisasterType;

    fn try_from(name: String) -> Result<Self, UnknownDisasterType> {
        name.parse()
    }
}

impl From<DisasterType> for &'static str {
    fn from(disaster: DisasterType) -> Self {
        disaster.name()
    }
}
