use std::cell::RefCell;
use std::fmt;

use geo::MultiPolygon;
use geojson::{JsonObject, JsonValue};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::notes::FileNotes;
use super::{geometry, validity};
use crate::model::{NAME, Timestamp, is_name};

/// A feature of a GeoJSON file.
pub(super) struct Feature<'a> {
    /// The line it begins on.
    pub(super) line: u64,
    /// Its number in the file, from 1.
    number: u64,
    document: Document<'a>,
    /// Which of its properties somebody has looked at.
    read: RefCell<Vec<bool>>,
    notes: &'a RefCell<FileNotes>,
    /// Whether an invalid outline is repaired.
    repairing: bool,
}

/// How many characters of an identifier, and how many properties, a message names.
const SHOWN: usize = 40;

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
    /// Reads the feature of this number, which begins on a line.
    ///
    /// # Errors
    ///
    /// The reason, when it is none.
    pub(super) fn read(
        line: u64,
        number: u64,
        raw: &'a RawValue,
        notes: &'a RefCell<FileNotes>,
        repairing: bool,
    ) -> Result<Self, String> {
        let document: Result<Document<'a>, _> = serde_json::from_str(raw.get());
        let document = document.map_err(|error| geojson::Error::MalformedGeoJson(error).to_string())?;
        let count = document.properties.as_ref().map_or(0, |Members(members)| members.len());
        let read = RefCell::new(vec![false; count]);
        Ok(Self { line, number, document, read, notes, repairing })
    }

    /// Its number in the file, and what it is identified by as it stands there: `feature 5 (area_id 17)`.
    pub(super) fn called(&self, identifier: &str) -> String {
        let number = self.number;
        match self.raw(identifier).map(RawValue::get) {
            // A text or a number, which is one line.
            Some(raw)
                if raw.len() > 2 && raw.starts_with('"') || raw.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                let shown: String = raw.trim_matches('"').chars().take(SHOWN).collect();
                format!("feature {number} ({identifier} {shown})")
            }
            _ => format!("feature {number}"),
        }
    }

    /// Notes which properties hold something that nobody has looked at.
    pub(super) fn note_unread(&self) {
        let read = self.read.borrow();
        let unread = self.held().iter().zip(&*read).filter(|((_, raw), read)| !**read && raw.get() != "null");
        unread.for_each(|((key, _), _)| self.note_unkept(key));
    }

    /// Notes that something of a property is not kept.
    pub(super) fn note_unkept(&self, property: &str) {
        self.notes.borrow_mut().unkept(property);
    }

    /// All properties, as they stand there.
    fn held(&self) -> &[(String, &'a RawValue)] {
        self.document.properties.as_ref().map_or(&[], |Members(members)| members)
    }

    /// A property as it stands there.
    fn raw(&self, key: &str) -> Option<&'a RawValue> {
        let held = self.held();
        let position = held.iter().position(|(name, _)| name == key)?;
        self.read.borrow_mut()[position] = true;
        Some(held[position].1)
    }

    /// Gives out all properties as they stand there, so that none of them is left out.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.read.borrow_mut().fill(true);
        self.held().iter().map(|(name, value)| (name.as_str(), *value))
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
        if text.is_empty() { Err(self.missing(key)) } else { Ok(text) }
    }

    /// The reason that a property is missing, with what is there in its place.
    fn missing(&self, key: &str) -> String {
        let mut found: Vec<_> =
            self.held().iter().map(|(found, _)| found.escape_debug().to_string()).collect();
        if found.is_empty() {
            return format!("{key} is missing; the feature has no properties");
        }
        if self.raw(key).is_some() {
            return format!("{key} is missing; the property is empty");
        }
        found.sort_unstable();
        found.truncate(SHOWN);
        format!("{key} is missing; the properties are [{}]: rename one of them, or add it", found.join(", "))
    }

    /// A property that is a name, with the blanks around it: clients give such names too.
    pub(super) fn name(&self, key: &str) -> Result<String, String> {
        let name = self.string(key)?;
        match name.as_str() {
            "" => Err(self.missing(key)),
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

    /// The geometry as a valid surface, repaired if that is asked for.
    ///
    /// # Errors
    ///
    /// The reason, with the position at fault.
    pub(super) fn outline(&self) -> Result<MultiPolygon<f64>, String> {
        let outline = geometry::outline(self.geometry()?)?;
        if !self.repairing {
            let Some(fault) = validity::fault(&outline) else { return Ok(outline) };
            let repair =
                "correct it there, or have it repaired: siaga import --repair, or ogr2ogr -makevalid";
            return Err(format!("geometry {fault}; {repair}"));
        }
        let (outline, fault) = validity::repaired(outline)?;
        if let Some(fault) = fault {
            self.notes.borrow_mut().repaired(self.line, self.number, &fault);
        }
        Ok(outline)
    }

    /// The geometry.
    pub(super) fn geometry(&self) -> Result<&geojson::GeometryValue, String> {
        let geometry = self.document.geometry.as_ref().ok_or("geometry is missing")?;
        Ok(&geometry.value)
    }
}
