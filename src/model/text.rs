//! Texts: names, and numbers as text.

use serde::Deserialize;

/// What the name of a user, a network or a gauge must be, in words.
pub const NAME: &str = "a text of 1 to 255 characters without control characters";

/// Returns whether a text is [`NAME`].
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=255).contains(&text.chars().count()) && !text.contains(char::is_control)
}

/// Reads a number from decimal digits and nothing else. The number parser alone would accept a leading plus sign.
#[must_use]
pub fn digits(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// A number in the configuration, or its digits, because the environment has only texts. For `#[serde(try_from)]`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "must be a whole number, of 32 bits at most")]
pub(crate) enum Number {
    Number(u32),
    Digits(String),
}

impl Number {
    /// Returns the number; `None` if the digits are not a number of 32 bits.
    pub(crate) fn get(&self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Digits(digits) => digits.parse().ok(),
        }
    }
}
