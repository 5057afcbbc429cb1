use super::{Position, Timestamp};

/// A place where the water level is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// The identifier, such as `TMA00001`.
    pub id: String,
    /// The name, such as `Bendung Katulampa`.
    pub name: String,
    /// The province that lists the gauge. The gauge can lie in another province.
    pub region_code: Option<String>,
    /// The place.
    pub location: Position,
}

/// The alert level of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum AlertLevel {
    /// Level 1: the highest alarm.
    Critical = 1,
    /// Level 2.
    Alert,
    /// Level 3.
    Watch,
    /// Level 4: no alarm.
    Normal,
}

/// Error for a number that is not an [`AlertLevel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [1, 2, 3, 4]")]
pub struct InvalidAlertLevel;

impl AlertLevel {
    /// All levels, worst first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::Alert, Self::Watch, Self::Normal];

    /// Returns the number, 1 to 4.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the name that agencies use.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Critical => "SIAGA I",
            Self::Alert => "SIAGA II",
            Self::Watch => "SIAGA III",
            Self::Normal => "SIAGA IV",
        }
    }
}

impl TryFrom<u64> for AlertLevel {
    type Error = InvalidAlertLevel;

    fn try_from(number: u64) -> Result<Self, InvalidAlertLevel> {
        let level = Self::ALL.into_iter().find(|level| u64::from(level.number()) == number);
        level.ok_or(InvalidAlertLevel)
    }
}

/// A reading of a gauge.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// When the level was read. A gauge has at most one reading for each time.
    pub observed_at: Timestamp,
    /// The water level in centimetres; negative below the gauge's zero.
    pub level: f64,
    /// The alert level.
    pub alert: AlertLevel,
    /// The agency's name of the level.
    pub label: Box<str>,
}
