//! Texts: names, and numbers as text.

use serde::Deserialize;

/// What a name of a user, a network or a gauge is, in words.
pub const NAME: &str = "a text of 1 to 255 characters without control characters";

/// Whether a text is [`NAME`].
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=255).contains(&text.chars().count()) && !text.contains(char::is_control)
}

/// The number of some decimal digits and nothing else; the parser of numbers alone would take a leading plus sign.
#[must_use]
pub fn digits(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// A number in the configuration, or its digits: the environment has texts only. For `#[serde(try_from)]`.
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
