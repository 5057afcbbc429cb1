use std::fmt;

use geojson::{JsonObject, JsonValue};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::model::{NAME, Timestamp, is_name};

/// A feature of a GeoJSON file, with the line it begins on.
pub(super) struct Feature<'a> {
    pub(super) line: u64,
    document: Document<'a>,
}

/// A feature as it stands there. Its properties are still text: each may be as deep as the parser allows, as it may be
/// where clients send it.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(rename = "type")]
    _type: Type,
    #[serde(borrow)]
    properties: Option<Members<'a>>,
    geometry: Option<geojson::Geometry>,
}

#[derive(Deserialize)]
enum Type {
    Feature,
}

/// The members of an object in their order, each still text.
#[derive(Default)]
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members: Vec<(String, &RawValue)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, _>()? {
                    // Of two of one name the later counts.
                    members.retain(|(other, _)| *other != name);
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        object.deserialize_map(Object)
    }
}

impl<'a> Feature<'a> {
    /// Reads the feature that begins on a line.
    ///
    /// # Errors
    ///
    /// The reason, when it is none.
    pub(super) fn read(line: u64, raw: &'a RawValue) -> Result<Self, String> {
        let document = serde_json::from_str(raw.get());
        let document = document.map_err(|error| geojson::Error::MalformedGeoJson(error).to_string())?;
        Ok(Self { line, document })
    }

    /// A property as it stands there.
    fn raw(&self, key: &str) -> Option<&'a RawValue> {
        self.properties().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// All properties, as they stand there.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        let members = self.document.properties.as_ref().map_or(&[][..], |Members(members)| members);
        members.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// The members of a property that is an object; none when it is anything else.
    pub(super) fn members(&self, key: &str) -> Result<Vec<(String, &'a RawValue)>, String> {
        let object = self.raw(key).filter(|raw| raw.get().starts_with('{'));
        let read = object.map_or(Ok(Members::default()), |raw| serde_json::from_str(raw.get()));
        Ok(read.map_err(|error| format!("{key}: {error}"))?.0)
    }

    /// A property; `None` when it is absent or null.
    fn property(&self, key: &str) -> Result<Option<JsonValue>, String> {
        let read = self.raw(key).map_or(Ok(JsonValue::Null), |raw| serde_json::from_str(raw.get()));
        Ok(Some(read.map_err(|error| format!("{key}: {error}"))?).filter(|value| !value.is_null()))
    }

    /// A property that is an object.
    pub(super) fn object(&self, key: &str) -> Result<Option<JsonObject>, String> {
        match self.property(key)? {
            None => Ok(None),
            Some(JsonValue::Object(object)) => Ok(Some(object)),
            Some(_) => Err(format!("{key} must be an object")),
        }
    }

    /// A property that is true or false; false when it is absent or null.
    pub(super) fn truth(&self, key: &str) -> Result<bool, String> {
        match self.property(key)? {
            None => Ok(false),
            Some(JsonValue::Bool(value)) => Ok(value),
            Some(_) => Err(format!("{key} must be true or false")),
        }
    }

    /// A property that is a moment, and there.
    pub(super) fn moment(&self, key: &str) -> Result<Timestamp, String> {
        Timestamp::parse(&self.required(key)?).map_err(|error| format!("{key} {error}"))
    }

    /// A property that is text of several lines, perhaps; `None` when it is absent or null.
    pub(super) fn prose(&self, key: &str) -> Result<Option<String>, String> {
        match self.property(key)? {
            None => Ok(None),
            Some(JsonValue::String(text)) if !text.contains('\0') => Ok(Some(text)),
            Some(_) => Err(format!("{key} must be a text without NUL characters")),
        }
    }

    /// A property that is text, without the blanks around it; a number is taken as its digits. Absent or null is the
    /// empty text.
    pub(super) fn text(&self, key: &str) -> Result<String, String> {
        let text = self.string(key)?.trim().to_owned();
        if text.is_empty() || is_name(&text) { Ok(text) } else { Err(format!("{key} must be {NAME}")) }
    }

    /// A property that is text and not empty, without the blanks around it.
    pub(super) fn required(&self, key: &str) -> Result<String, String> {
        let text = self.text(key)?;
        if text.is_empty() { Err(format!("{key} is missing")) } else { Ok(text) }
    }

    /// A property that is a name, with the blanks around it: clients give such names too.
    pub(super) fn name(&self, key: &str) -> Result<String, String> {
        let name = self.string(key)?;
        match name.as_str() {
            "" => Err(format!("{key} is missing")),
            text if is_name(text) => Ok(name),
            _ => Err(format!("{key} must be {NAME}")),
        }
    }

    /// Whether a property is there and null.
    pub(super) fn is_null(&self, key: &str) -> bool {
        self.raw(key).is_some_and(|raw| raw.get() == "null")
    }

    fn string(&self, key: &str) -> Result<String, String> {
        match self.property(key)? {
            None => Ok(String::new()),
            Some(JsonValue::String(text)) => Ok(text),
            Some(JsonValue::Number(number)) => Ok(number.to_string()),
            Some(_) => Err(format!("{key} must be a string")),
        }
    }

    /// The geometry.
    pub(super) fn geometry(&self) -> Result<&geojson::GeometryValue, String> {
        let geometry = self.document.geometry.as_ref().ok_or("geometry is missing")?;
        Ok(&geometry.value)
    }
}
