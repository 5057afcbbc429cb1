use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The members of a JSON object in order, with raw values. If several have the same name, the last one wins.
#[derive(Default)]
pub(crate) struct Members<'a> {
    pub(crate) list: Vec<(String, &'a RawValue)>,
    pub(crate) duplicates: Vec<String>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Members::default();
                while let Some((name, value)) = map.next_entry::<String, _>()? {
                    if let Some(earlier) = members.list.iter().position(|(other, _)| *other == name) {
                        members.list.remove(earlier);
                        members.duplicates.push(name.clone());
                    }
                    members.list.push((name, value));
                }
                Ok(members)
            }
        }

        object.deserialize_map(Object)
    }
}
