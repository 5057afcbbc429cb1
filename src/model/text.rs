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

/// Returns a name as people read it: words of names in capitals get small letters. Short names are abbreviations (`RW`, `TMII`).
pub(crate) fn readable(name: &str) -> String {
    let is_long = |word: &str| word.chars().filter(|letter| letter.is_alphabetic()).count() > 4;
    let are_capitals = !name.chars().any(char::is_lowercase);
    let words = name.split(' ').filter(|word| word.chars().any(char::is_alphabetic)).count();
    if !are_capitals || !(name.split(' ').any(is_long) || words > 1) {
        return name.to_owned();
    }
    let mut is_first = true;
    let case = |letter: char| {
        let cased = if is_first { letter.to_string() } else { letter.to_lowercase().to_string() };
        is_first = matches!(letter, ' ' | '(' | '/' | '.' | '-');
        cased
    };
    name.chars().map(case).collect()
}

/// Returns the name of an area with that of the larger area.
pub(crate) fn place_name(parent: &str, name: &str, id: &str) -> String {
    let own = if name.is_empty() { id } else { name };
    let names = [parent, own].into_iter().filter(|name| !name.is_empty()).map(readable);
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_capitals_are_readable_and_abbreviations_stay() {
        for (name, expected) in [
            ("KAMPUNG MELAYU", "Kampung Melayu"),
            ("PULAU PRAMUKA (UTARA)", "Pulau Pramuka (Utara)"),
            ("GROGOL", "Grogol"),
            ("RW 09", "RW 09"),
            ("TMII", "TMII"),
            ("LP Cipinang", "LP Cipinang"),
            ("", ""),
        ] {
            assert_eq!(readable(name), expected);
        }
    }
}
