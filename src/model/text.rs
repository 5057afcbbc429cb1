use serde::Deserialize;
use strsim::osa_distance;

/// Describes valid names of users, networks and gauges, for error texts.
pub const NAME: &str = "a text of 1 to 255 characters without control characters";

/// Returns whether a text matches [`NAME`]. Bidirectional controls count as control characters: they can disguise a name.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let is_control =
        |char: char| char.is_control() || matches!(char, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    (1..=255).contains(&text.chars().count()) && !text.contains(is_control)
}

/// Adds a query parameter to an address. Encodes nothing: name and value must be valid in a query.
pub(crate) fn with_parameter(address: &str, name: &str, value: &str) -> String {
    let sign = if address.contains('?') { '&' } else { '?' };
    format!("{address}{sign}{name}={value}")
}

/// Parses decimal digits only; `u64::from_str` would accept a plus sign.
#[must_use]
pub fn digits(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

pub(crate) const TEXT_OR_WHOLE: &str =
    "must be a text or a whole number; one with a point or exponent is exact only below 2^53";

/// 2^53. A double represents all whole numbers below it exactly.
pub(crate) const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the digits of a whole JSON number, whether `5`, `5.0` or `5e0`. `None` for fractions, and for numbers from 2^53 with a
/// point or exponent, because they may have lost digits.
#[must_use]
pub fn whole_number(json: &str) -> Option<String> {
    if json.strip_prefix('-').unwrap_or(json).bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(json.to_owned());
    }
    let number = json.parse().ok().filter(|number: &f64| number.fract() == 0.0 && number.abs() < EXACT)?;
    Some((number as i64).to_string())
}

/// Removes a zero fraction, which programs write in columns of doubles: `5` for `5.0`. Leaves other texts unchanged. Also leaves
/// numbers unchanged that may have lost digits: numbers from 2^53 on, and numbers that a spreadsheet shortened with an exponent.
#[must_use]
pub(crate) fn without_zero_fraction(text: &str) -> &str {
    let Some((whole, fraction)) = text.split_once('.') else { return text };
    let is_zero = !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0');
    let magnitude = digits(whole.strip_prefix('-').unwrap_or(whole));
    if is_zero && magnitude.is_some_and(|number| number < EXACT as u64) { whole } else { text }
}

/// A number in the configuration, or its digits, because environment variables are strings. For `#[serde(try_from)]`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "must be a whole number, of 32 bits at most")]
pub(crate) enum Number {
    Number(u32),
    Digits(String),
}

impl Number {
    pub(crate) fn get(&self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Digits(digits) => digits.parse().ok(),
        }
    }
}

/// Converts a name in capitals to title case. Short single words are abbreviations (`RW`, `TMII`) and stay unchanged.
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

/// Returns the display name of an area: the name of its larger area, then its own name, or `id` if it has no name.
pub(crate) fn place_name(parent: &str, name: &str, id: &str) -> String {
    let label = if name.is_empty() { id } else { name };
    let names = [parent, label].into_iter().filter(|name| !name.is_empty()).map(readable);
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the error text for an unknown key: the allowed keys, and a suggestion if at most a third of the letters differ.
pub(crate) fn unknown_key(key: &str, allowed: &[&str]) -> String {
    let distance = |known: &&&str| osa_distance(&key.to_ascii_lowercase(), known);
    let closest = allowed.iter().min_by_key(distance).filter(|known| 3 * distance(known) <= key.len());
    let suggestion = closest.map_or_else(String::new, |known| format!("did you mean {known}? "));
    format!("unknown key; {suggestion}allowed are {}", allowed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_control_or_bidirectional_characters() {
        for name in ["Sri", "RW 09", "سري", "a\u{200E}b"] {
            assert!(is_name(name), "{name:?}");
        }
        for text in ["", "a\nb", "\u{1b}[31mred", "\u{202E}irS", "a\u{2066}b", &"x".repeat(256)] {
            assert!(!is_name(text), "{text:?}");
        }
    }

    #[test]
    fn a_whole_number_has_the_same_digits_in_every_json_notation() {
        for (json, expected) in [
            ("5.0", Some("5")),
            ("1e0", Some("1")),
            ("-5.00", Some("-5")),
            ("9007199254740991.0", Some("9007199254740991")),
            ("9007199254740993.0", None),
            ("31740400040090001234567", Some("31740400040090001234567")),
            ("3.174040004009e22", None),
            ("5.5", None),
        ] {
            assert_eq!(whole_number(json).as_deref(), expected, "{json}");
        }
    }

    #[test]
    fn a_text_only_loses_a_zero_fraction() {
        for (text, expected) in [
            ("5.0", "5"),
            ("9007199254740991.0", "9007199254740991"),
            ("9007199254740992.0", "9007199254740992.0"),
            ("5.", "5."),
            (".0", ".0"),
            ("1.0.0", "1.0.0"),
            ("3.17404E+15", "3.17404E+15"),
        ] {
            assert_eq!(without_zero_fraction(text), expected);
        }
    }

    #[test]
    fn names_in_capitals_become_title_case_and_abbreviations_stay() {
        for (name, expected) in [
            ("KAMPUNG MELAYU", "Kampung Melayu"),
            ("PULAU PRAMUKA (UTARA)", "Pulau Pramuka (Utara)"),
            ("RW 09", "RW 09"),
            ("TMII", "TMII"),
            ("LP Cipinang", "LP Cipinang"),
        ] {
            assert_eq!(readable(name), expected);
        }
    }
}
