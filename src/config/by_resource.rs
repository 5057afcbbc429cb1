use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::LayerKind;

/// A table with one optional key for each map resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ByResource<T>(BTreeMap<LayerKind, T>);

impl<T> Default for ByResource<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> ByResource<T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (LayerKind, &T)> {
        self.0.iter().map(|(kind, value)| (*kind, value))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByResource<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Table(PhantomData)).map(Self)
    }
}

/// Reads the table. Serde's own map would report an unknown resource as a wrong value, not as an unknown key.
struct Table<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Table<T> {
    type Value = BTreeMap<LayerKind, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Self::Value, A::Error> {
        let mut values = BTreeMap::new();
        while let Some(name) = table.next_key::<String>()? {
            let kind = LayerKind::ALL.into_iter().find(|kind| kind.name() == name);
            let kind = kind.ok_or_else(|| A::Error::unknown_field(&name, &LayerKind::NAMES))?;
            values.insert(kind, table.next_value()?);
        }
        Ok(values)
    }
}
