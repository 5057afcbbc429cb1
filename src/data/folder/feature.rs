use std::cell::RefCell;

use geo::MultiPolygon;
use geojson::{JsonObject, JsonValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::geometry::ADVICE;
use super::notes::FileNotes;
use super::{geometry, validity};
use crate::model::{Members, NAME, TEXT_OR_WHOLE, Timestamp, is_name, whole_number};

pub(super) struct Feature<'a> {
    pub(super) line: u64,
    /// The position of the feature in the file, from 1.
    number: u64,
    document: Document<'a>,
    /// Whether each property was read, in the order of the properties.
    read: RefCell<Vec<bool>>,
    notes: &'a RefCell<FileNotes>,
    repair: bool,
}

/// The maximum number of characters of an identifier, and of properties, in a message.
const SHOWN: usize = 40;

/// A feature whose properties are parsed one by one later, so that each may be nested as deep as in requests.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(rename = "type")]
    _type: Type,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    properties: Option<Members<'a>>,
    geometry: Option<geojson::Geometry>,
}

#[derive(Deserialize)]
enum Type {
    Feature,
}

impl<'a> Feature<'a> {
    pub(super) fn read(
        line: u64,
        number: u64,
        raw: &'a RawValue,
        notes: &'a RefCell<FileNotes>,
        repairing: bool,
    ) -> Result<Self, String> {
        let document: Result<Document<'a>, _> = serde_json::from_str(raw.get());
        let document = document.map_err(|error| geojson::Error::MalformedGeoJson(error).to_string())?;
        let count = document.properties.as_ref().map_or(0, |members| members.list.len());
        let read = RefCell::new(vec![false; count]);
        Ok(Self { line, number, document, read, notes, repair: repairing })
    }

    /// Returns how messages name the feature, such as `feature 5 (area_id 17)`.
    pub(super) fn label(&self, identifier: &str) -> String {
        let number = self.number;
        match self.raw(identifier).map(RawValue::get) {
            // Includes the identifier only if it is a text or a number, so that the label is one line.
            Some(raw)
                if raw.len() > 2 && raw.starts_with('"') || raw.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                let shown: String = raw.trim_matches('"').chars().take(SHOWN).collect();
                format!("feature {number} ({identifier} {shown})")
            }
            _ => format!("feature {number}"),
        }
    }

    /// Notes the properties that have a value and were not read.
    pub(super) fn note_unread(&self) {
        let read = self.read.borrow();
        let unread = self
            .raw_properties()
            .iter()
            .zip(&*read)
            .filter(|((_, raw), read)| !**read && raw.get() != "null");
        unread.for_each(|((key, _), _)| self.note_ignored(key));
    }

    pub(super) fn note_without_city(&self) {
        self.notes.borrow_mut().count_without_city();
    }

    pub(super) fn note_unusual_shape(&self) {
        self.notes.borrow_mut().count_unusual_shape();
    }

    pub(super) fn note_ignored(&self, property: &str) {
        self.notes.borrow_mut().count_ignored(property);
    }

    fn raw_properties(&self) -> &[(String, &'a RawValue)] {
        self.document.properties.as_ref().map_or(&[], |members| &members.list)
    }

    fn raw(&self, key: &str) -> Option<&'a RawValue> {
        let properties = self.raw_properties();
        let position = properties.iter().position(|(name, _)| name == key)?;
        self.read.borrow_mut()[position] = true;
        Some(properties[position].1)
    }

    /// Returns all properties, and marks them as read.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.read.borrow_mut().fill(true);
        self.raw_properties().iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Returns the members of a property that is an object; no members for any other value.
    pub(super) fn members(&self, key: &str) -> Result<Vec<(String, &'a RawValue)>, String> {
        let object = self.raw(key).filter(|raw| raw.get().starts_with('{'));
        let read = object.map_or(Ok(Members::default()), |raw| serde_json::from_str(raw.get()));
        Ok(read.map_err(|error| format!("{key}: {error}"))?.list)
    }

    /// Returns a property; `None` if it is absent or null.
    fn property(&self, key: &str) -> Result<Option<JsonValue>, String> {
        value(key, self.raw(key))
    }

    pub(super) fn object(&self, key: &str) -> Result<Option<JsonObject>, String> {
        match self.property(key)? {
            None => Ok(None),
            Some(JsonValue::Object(object)) => Ok(Some(object)),
            Some(_) => Err(format!("{key} must be an object")),
        }
    }

    /// Returns a boolean; false if the property is absent or null.
    pub(super) fn truth(&self, key: &str) -> Result<bool, String> {
        match self.property(key)? {
            None => Ok(false),
            Some(JsonValue::Bool(value)) => Ok(value),
            Some(_) => Err(format!("{key} must be true or false")),
        }
    }

    pub(super) fn moment(&self, key: &str) -> Result<Timestamp, String> {
        Timestamp::parse(&self.required(key)?).map_err(|error| format!("{key} {error}"))
    }

    /// Returns a text, which may have several lines; `None` if the property is absent or null.
    pub(super) fn optional_text(&self, key: &str) -> Result<Option<String>, String> {
        match self.property(key)? {
            None => Ok(None),
            Some(JsonValue::String(text)) if !text.contains('\0') => Ok(Some(text)),
            Some(_) => Err(format!("{key} must be a text without NUL characters")),
        }
    }

    /// Returns a trimmed text, empty if the property is absent or null. A whole number becomes its digits.
    pub(super) fn text(&self, key: &str) -> Result<String, String> {
        trimmed(key, &self.string(key)?)
    }

    /// Returns the property `id`, or else the feature's `id` (RFC 7946 §3.2), or else "". A whole number becomes its digits.
    pub(super) fn id(&self) -> Result<String, String> {
        let property = self.text("id")?;
        if property.is_empty() { trimmed("id", &string("id", self.document.id)?) } else { Ok(property) }
    }

    /// Returns a trimmed text, which must not be empty.
    pub(super) fn required(&self, key: &str) -> Result<String, String> {
        let text = self.text(key)?;
        if text.is_empty() { Err(self.missing(key)) } else { Ok(text) }
    }

    /// Returns the message about a missing property, which lists the existing properties.
    fn missing(&self, key: &str) -> String {
        let mut names: Vec<_> =
            self.raw_properties().iter().map(|(name, _)| name.escape_debug().to_string()).collect();
        if names.is_empty() {
            return format!("{key} is missing; the feature has no properties");
        }
        if self.raw(key).is_some() {
            return format!("{key} is missing; the property is empty");
        }
        names.sort_unstable();
        names.truncate(SHOWN);
        format!("{key} is missing; the properties are [{}]: rename one of them, or add it", names.join(", "))
    }

    /// Returns a name, including whitespace around it, because names in requests may have it too.
    pub(super) fn name(&self, key: &str) -> Result<String, String> {
        let name = self.string(key)?;
        match name.as_str() {
            "" => Err(self.missing(key)),
            text if is_name(text) => Ok(name),
            _ => Err(format!("{key} must be {NAME}")),
        }
    }

    /// Returns a property as JSON; `None` if it is absent or null.
    pub(super) fn json<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, serde_json::Error> {
        self.raw(key).map_or(Ok(None), |raw| serde_json::from_str(raw.get()))
    }

    pub(super) fn is_null(&self, key: &str) -> bool {
        self.raw(key).is_some_and(|raw| raw.get() == "null")
    }

    fn string(&self, key: &str) -> Result<String, String> {
        string(key, self.raw(key))
    }

    /// Returns the geometry as a valid surface. An invalid geometry is repaired if `repair` is set, and otherwise an error.
    pub(super) fn outline(&self) -> Result<MultiPolygon<f64>, String> {
        let geometry = self.geometry()?;
        if !self.repair {
            let outline = geometry::outline(geometry)?;
            return match validity::fault(&outline) {
                None => Ok(outline),
                Some(fault) => Err(format!("geometry {fault}; {ADVICE}")),
            };
        }
        let (outline, fault) = validity::repair_outline(geometry)?;
        if let Some(fault) = fault {
            self.notes.borrow_mut().count_repaired(self.line, self.number, &fault);
        }
        Ok(outline)
    }

    pub(super) fn geometry(&self) -> Result<&geojson::GeometryValue, String> {
        let geometry = self.document.geometry.as_ref().ok_or("geometry is missing")?;
        Ok(&geometry.value)
    }
}

/// Parses a value; `None` if it is absent or null.
fn value(key: &str, raw: Option<&RawValue>) -> Result<Option<JsonValue>, String> {
    let read = raw.map_or(Ok(JsonValue::Null), |raw| serde_json::from_str(raw.get()));
    Ok(Some(read.map_err(|error| format!("{key}: {error}"))?).filter(|value| !value.is_null()))
}

/// Parses a text, empty if it is absent or null. A whole number becomes its digits.
fn string(key: &str, raw: Option<&RawValue>) -> Result<String, String> {
    let error = || format!("{key} {TEXT_OR_WHOLE}");
    match value(key, raw)? {
        None => Ok(String::new()),
        Some(JsonValue::String(text)) => Ok(text),
        Some(JsonValue::Number(_)) => raw.and_then(|raw| whole_number(raw.get())).ok_or_else(error),
        Some(_) => Err(error()),
    }
}

/// Trims a text, which must be empty or a name.
fn trimmed(key: &str, text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || is_name(text) { Ok(text.to_owned()) } else { Err(format!("{key} must be {NAME}")) }
}
