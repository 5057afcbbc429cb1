//! Numbers in the configuration. For `#[serde(try_from)]`.

use serde::Deserialize;

/// A number, or its digits: the environment has texts only.
#[derive(Deserialize)]
#[serde(untagged, expecting = "must be a whole number, of 32 bits at most")]
pub(crate) enum Number {
    Number(u32),
    Digits(String),
}

impl Number {
    /// The number; `None` when the digits are none of 32 bits.
    pub(crate) fn get(&self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Digits(digits) => digits.parse().ok(),
        }
    }
}
