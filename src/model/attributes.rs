use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{TEXT_OR_WHOLE, whole_number};

/// Further properties of an area: a JSON object with at least one member. Keeps the text without whitespace between tokens.
#[derive(Clone)]
pub struct Attributes(Box<RawValue>);

/// Error for a text that is not a valid [`Attributes`] object.
#[derive(Debug, thiserror::Error)]
#[error("must be a JSON object with at least one member")]
pub struct InvalidAttributes;

/// Error for an attribute `district_id` whose value cannot be an identifier.
#[derive(Debug, thiserror::Error)]
#[error("district_id {}", TEXT_OR_WHOLE)]
pub struct InvalidDistrict;

impl Attributes {
    /// Returns the attributes as JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// Returns the district number, which clients of CogniCity read, if it is a non-empty text or a number. Costs O(size).
    pub(crate) fn district_id(&self) -> Option<Box<str>> {
        district_id(self.district()?)
    }

    fn district(&self) -> Option<&str> {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            district_id: Option<&'a RawValue>,
        }
        let members: Members<'_> = serde_json::from_str(self.as_json()).ok()?;
        members.district_id.map(RawValue::get)
    }

    /// Checks that a number in `district_id` is whole and exact. A fraction could lose trailing zeros.
    ///
    /// # Errors
    ///
    /// [`InvalidDistrict`].
    pub fn check_district(&self) -> Result<(), InvalidDistrict> {
        let is_inexact = |json: &str| is_number(json) && whole_number(json).is_none();
        if self.district().is_some_and(is_inexact) { Err(InvalidDistrict) } else { Ok(()) }
    }

    /// Creates an object with the given members in their order; `None` without members. Each value must be JSON text.
    pub(crate) fn from_members<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let members: Vec<String> = members.map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
        if members.is_empty() { None } else { format!("{{{}}}", members.join(",")).try_into().ok() }
    }
}

/// Parses a district number from JSON: a non-empty text, or a number without its zero fraction (`5` for `5.0`).
pub(crate) fn district_id(json: &str) -> Option<Box<str>> {
    if is_number(json) {
        // Data stored by earlier versions can have a fraction, which stays unchanged.
        return Some(whole_number(json).map_or_else(|| json.into(), Box::from));
    }
    let text: String = serde_json::from_str(json).ok()?;
    (!text.is_empty()).then(|| text.into())
}

fn is_number(json: &str) -> bool {
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

fn quoted(text: &str) -> serde_json::Value {
    text.into()
}

impl TryFrom<String> for Attributes {
    type Error = InvalidAttributes;

    fn try_from(json: String) -> Result<Self, InvalidAttributes> {
        let raw = RawValue::from_string(compact(&json)).map_err(|_| InvalidAttributes)?;
        if raw.get().starts_with('{') && raw.get() != "{}" { Ok(Self(raw)) } else { Err(InvalidAttributes) }
    }
}

/// Removes whitespace between tokens. Numbers and strings stay unchanged.
fn compact(json: &str) -> String {
    let (mut in_text, mut escaped) = (false, false);
    let is_kept = |&char: &char| {
        let is_delimiter = char == '"' && !escaped;
        escaped = in_text && char == '\\' && !escaped;
        in_text ^= is_delimiter;
        in_text || !char.is_ascii_whitespace()
    };
    json.chars().filter(is_kept).collect()
}

impl PartialEq for Attributes {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

impl Serialize for Attributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whitespace_between_tokens_is_dropped() {
        for (given, kept) in [
            ("{ \"a b\" :\n 1.50 }", Some(r#"{"a b":1.50}"#)),
            (r#"{"a": "x \" y \\", "b": [ 1, {} ]}"#, Some(r#"{"a":"x \" y \\","b":[1,{}]}"#)),
            ("{}", None),
            ("[1]", None),
            ("{", None),
        ] {
            let attributes = Attributes::try_from(given.to_owned()).ok();
            assert_eq!(attributes.as_ref().map(Attributes::as_json), kept, "{given}");
        }
    }

    #[test]
    fn a_district_is_a_text_or_a_number() {
        for (json, expected) in [
            (r#"{"district_id":"3172090"}"#, Some("3172090")),
            (r#"{"a":{},"district_id":3172090.0}"#, Some("3172090")),
            (r#"{"district_id":"a\"b"}"#, Some("a\"b")),
            (r#"{"district_id":""}"#, None),
            (r#"{"district_id":{"district_id":1}}"#, None),
        ] {
            let attributes = Attributes::try_from(json.to_owned()).unwrap();
            assert_eq!(attributes.district_id().as_deref(), expected, "{json}");
        }
    }

    #[test]
    fn members_keep_their_order_and_names_are_json_strings() {
        let members = [("b\"", "1"), ("a", "[2]")];
        let attributes = Attributes::from_members(members.into_iter()).unwrap();
        assert_eq!(attributes.as_json(), r#"{"b\"":1,"a":[2]}"#);
        assert_eq!(Attributes::from_members([].into_iter()), None);
    }
}
