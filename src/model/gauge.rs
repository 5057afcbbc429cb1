use super::{Position, Timestamp};

/// A place where the water level is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// Identifies it, `TMA00001`.
    pub id: String,
    /// Its name, `Bendung Katulampa`.
    pub name: String,
    /// The province that lists it, which need not be the one in which it lies.
    pub region_code: Option<String>,
    /// Where it is.
    pub location: Position,
}

/// How alarming a level is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum AlertLevel {
    /// 1, the highest alarm.
    Critical = 1,
    /// 2.
    Alert,
    /// 3.
    Watch,
    /// 4, no alarm.
    Normal,
}

/// The error for a number that is not an [`AlertLevel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [1, 2, 3, 4]")]
pub struct InvalidAlertLevel;

impl AlertLevel {
    /// Every level, the worst first.
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
    /// When it was read. A gauge has one reading for each time.
    pub observed_at: Timestamp,
    /// The water level in centimetres; negative below the gauge's zero.
    pub level: f64,
    /// How alarming that is.
    pub alert: AlertLevel,
    /// The agency's name for that.
    pub label: Box<str>,
}
