//! JSON in which each entry knows its line.

use std::collections::HashSet;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::files::line_of;

/// An entry of a file, and the line on which it begins.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) line: u64,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Text(String),
    List(Vec<String>),
    /// Members in the order of the file, each name once.
    Group(Vec<(String, Node)>),
}

/// A line and what is wrong there.
pub(super) type Wrong = (u64, String);

impl Node {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it is not JSON, or has something else than texts, lists of texts and objects.
    pub(super) fn read(text: &str) -> Result<Self, Wrong> {
        let raw: &RawValue = serde_json::from_str(text)
            .map_err(|error| (error.line().max(1) as u64, format!("is not JSON: {error}")))?;
        Self::of(raw, text)
    }

    fn of(raw: &RawValue, text: &str) -> Result<Self, Wrong> {
        let json = raw.get();
        // The part is a slice of the text.
        let line = line_of(text, (json.as_ptr() as usize).saturating_sub(text.as_ptr() as usize));
        let must = |must: &str| (line, format!("{must}, not {}", json.chars().take(40).collect::<String>()));
        let kind = match json.as_bytes().first() {
            Some(b'{') => {
                let Members(members) =
                    serde_json::from_str(json).map_err(|error| (line, error.to_string()))?;
                let mut names = HashSet::new();
                if let Some((twice, raw)) = members.iter().find(|(name, _)| !names.insert(name.clone())) {
                    return Err((Self::of(raw, text)?.line, format!("{twice:?} occurs twice")));
                }
                let members = members.into_iter().map(|(name, raw)| Ok((name, Self::of(raw, text)?)));
                Kind::Group(members.collect::<Result<_, Wrong>>()?)
            }
            Some(b'[') => {
                let list: Vec<String> =
                    serde_json::from_str(json).map_err(|_| must("must be a list of texts"))?;
                Kind::List(list)
            }
            _ => Kind::Text(serde_json::from_str(json).map_err(|_| must("must be a text"))?),
        };
        Ok(Self { line, kind })
    }

    /// Returns the member of a group.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let Kind::Group(members) = &self.kind else { return None };
        members.iter().find_map(|(known, node)| (known == name).then_some(node))
    }
}

/// The members of an object, as they are written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(All).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_entry_is_named_by_its_line() {
        for (text, line, part) in [
            ("{\n\"a\": {\"b\":\nnull}}", 3, "must be a text, not null"),
            ("{\n\"a\": [\"x\", 1]}", 2, "must be a list of texts"),
            ("{\n\"a\": \"x\",\n\"a\": \"y\"}", 3, "\"a\" occurs twice"),
            ("{\n\"a\" \"x\"}", 2, "is not JSON"),
            ("", 1, "is not JSON"),
        ] {
            let (found, reason) = Node::read(text).unwrap_err();
            assert_eq!(found, line, "{text}: {reason}");
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }
}
