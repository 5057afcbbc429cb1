use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A permission that a credential can grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Scope {
    /// Setting and clearing flood states.
    FloodsWrite,
    /// Reading cards.
    CardsRead,
    /// Creating cards and their reports, and reading cards.
    CardsWrite,
    /// Sending reports of partners.
    FeedsWrite,
    /// Sending readings of gauges.
    GaugesWrite,
    /// Hiding reports, and showing them again.
    ReportsModerate,
    /// Everything.
    Admin,
}

/// A text that is not the name of a [`Scope`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a scope must be one of [floods:write, cards:read, cards:write, feeds:write, gauges:write, reports:moderate, admin]"
)]
pub struct UnknownScope;

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 7] = [
        Self::FloodsWrite,
        Self::CardsRead,
        Self::CardsWrite,
        Self::FeedsWrite,
        Self::GaugesWrite,
        Self::ReportsModerate,
        Self::Admin,
    ];

    /// Returns the name, as used in credentials.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FloodsWrite => "floods:write",
            Self::CardsRead => "cards:read",
            Self::CardsWrite => "cards:write",
            Self::FeedsWrite => "feeds:write",
            Self::GaugesWrite => "gauges:write",
            Self::ReportsModerate => "reports:moderate",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(name: &str) -> Result<Self, UnknownScope> {
        Self::ALL.into_iter().find(|scope| scope.name() == name).ok_or(UnknownScope)
    }
}

impl From<Scope> for &'static str {
    fn from(scope: Scope) -> Self {
        scope.name()
    }
}

impl TryFrom<String> for Scope {
    type Error = UnknownScope;

    fn try_from(name: String) -> Result<Self, UnknownScope> {
        name.parse()
    }
}
