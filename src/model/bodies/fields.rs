use std::cell::RefCell;
use std::fmt;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::gauge::Update;
use super::storable::check_storable;
use super::times::{TooFarAhead, effective_time};
use crate::model::{
    EXACT, InvalidTimestamp, NAME, Position, Timestamp, WEB_ADDRESS, is_name, is_web_address,
};

/// A JSON object.
pub type Object = Map<String, Value>;

/// A fault in one part of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The part, with dots between levels: `card_data.flood_depth`.
    pub path: String,
    /// The rule that the part breaks, beginning with a verb: `must be a number`.
    pub must: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" {}", self.path, self.must)
    }
}

/// Reads the fields of an object and collects all faults. An absent, null or wrong field is `None`. Read all fields before using
/// any of them, so that all faults are collected.
pub(super) struct Fields<'a> {
    object: &'a Object,
    /// The path of the object with a trailing dot; empty for the body itself.
    prefix: String,
    faults: &'a RefCell<Vec<Fault>>,
}

/// Reads a body with `read`, which must return `None` only after adding a fault.
pub(super) fn read<T>(body: &Object, read: impl FnOnce(&Fields<'_>) -> Option<T>) -> Result<T, Vec<Fault>> {
    let faults = RefCell::new(Vec::new());
    let fields = Fields { object: body, prefix: String::new(), faults: &faults };
    let value = read(&fields);
    match (value, faults.into_inner()) {
        (Some(value), faults) if faults.is_empty() => Ok(value),
        (_, faults) => Err(faults),
    }
}

impl<'a> Fields<'a> {
    pub(super) fn fault(&self, key: &str, must: impl fmt::Display) {
        let path = format!("{}{key}", self.prefix);
        self.faults.borrow_mut().push(Fault { path, must: must.to_string() });
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn is_null(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(Value::is_null)
    }

    /// Converts the field. On failure, adds a fault with the rule `must`.
    pub(super) fn convert<T>(
        &self,
        key: &str,
        must: impl fmt::Display,
        convert: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let converted = convert(self.get(key)?);
        if converted.is_none() {
            self.fault(key, must);
        }
        converted
    }

    /// Reads a change of a stored value; null removes it. A wrong field keeps it, and adds a fault.
    pub(super) fn update<T>(
        &self,
        key: &str,
        must: impl fmt::Display,
        convert: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Update<T> {
        if self.is_null(key) {
            return Update::Remove;
        }
        self.convert(key, must, convert).map_or(Update::Keep, Update::Set)
    }

    /// Reads the field with `read`; adds a fault if it is missing.
    pub(super) fn required<T>(&self, key: &str, read: impl FnOnce(&Self, &str) -> Option<T>) -> Option<T> {
        if self.get(key).is_none() {
            self.fault(key, "is required");
            return None;
        }
        read(self, key)
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.convert(key, "must be a text without NUL characters", |value| {
            value.as_str().filter(|text| !text.contains('\0'))
        })
    }

    pub(super) fn name(&self, key: &str) -> Option<&'a str> {
        let must = format!("must be {NAME}");
        self.convert(key, must, |value| value.as_str().filter(|text| is_name(text)))
    }

    /// Returns the allowed value whose name the field contains. Adds a fault for any other name.
    pub(super) fn one_of<'b, T: AsRef<str>>(&self, key: &str, allowed: &'b [T]) -> Option<&'b T> {
        let names: Vec<&str> = allowed.iter().map(AsRef::as_ref).collect();
        let must = format!("must be one of [{}]", names.join(", "));
        self.convert(key, must, |value| {
            allowed.iter().find(|allowed| value.as_str() == Some(allowed.as_ref()))
        })
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.convert(key, "must be a number", Value::as_f64)
    }

    pub(super) fn boolean(&self, key: &str) -> bool {
        self.convert(key, "must be true or false", Value::as_bool).unwrap_or(false)
    }

    /// Returns a name; `None` if it is empty, because forms send empty fields.
    pub(super) fn name_or_empty(&self, key: &str) -> Option<&'a str> {
        let must = format!("must be {NAME}, or empty");
        let text =
            self.convert(key, must, |value| value.as_str().filter(|text| text.is_empty() || is_name(text)));
        text.filter(|text| !text.is_empty())
    }

    pub(super) fn moment(&self, key: &str) -> Option<Timestamp> {
        let text = self.convert(key, "must be a text", Value::as_str)?;
        let malformed = |_| self.fault(key, InvalidTimestamp::Malformed);
        Timestamp::parse(text).map_err(malformed).ok()
    }

    pub(super) fn report_time(&self, key: &str, now: Timestamp) -> Option<Timestamp> {
        effective_time(self.moment(key)?, now).map_err(|far| self.fault(key, far)).ok()
    }

    pub(super) fn reading_time(&self, key: &str, now: Timestamp) -> Option<Timestamp> {
        let time = self.moment(key)?;
        TooFarAhead::check(time, now).map_err(|far| self.fault(key, far)).ok().map(|()| time)
    }

    pub(super) fn position(&self, key: &str) -> Option<Position> {
        self.convert(key, POSITION, position)
    }

    /// Returns the position. Adds a fault for the position 0, 0.
    pub(super) fn known_position(&self, key: &str) -> Option<Position> {
        let place = self.position(key)?;
        if place.is_origin() {
            self.fault(key, ORIGIN);
            return None;
        }
        Some(place)
    }

    pub(super) fn object<T>(&self, key: &str, read: impl FnOnce(&Fields<'a>) -> Option<T>) -> Option<T> {
        let object = self.convert(key, "must be an object", Value::as_object)?;
        let prefix = format!("{}{key}.", self.prefix);
        read(&Fields { object, prefix, faults: self.faults })
    }

    /// Reads each object of an array; `None` if the array is absent or any of its items is wrong.
    pub(super) fn objects<T>(&self, key: &str, read: impl Fn(&Fields<'a>) -> Option<T>) -> Option<Vec<T>> {
        let items = self.convert(key, "must be an array", Value::as_array)?;
        let read = |(index, item): (usize, &'a Value)| {
            let Some(object) = item.as_object() else {
                self.fault(&format!("{key}.{index}"), "must be an object");
                return None;
            };
            let prefix = format!("{}{key}.{index}.", self.prefix);
            read(&Fields { object, prefix, faults: self.faults })
        };
        // Reads all items, even after a wrong one, to collect all faults.
        let items: Vec<Option<T>> = items.iter().enumerate().map(read).collect();
        items.into_iter().collect()
    }

    pub(super) fn web_address(&self, key: &str) -> Option<&'a str> {
        let must = format!("must be {WEB_ADDRESS}");
        self.convert(key, must, |value| value.as_str().filter(|text| is_web_address(text)))
    }

    /// Returns the whole object, including unknown members; adds a fault if it cannot be stored.
    pub(super) fn require_storable(&self) -> Option<&'a Object> {
        if let Err(error) = check_storable(self.object) {
            let path = self.prefix.trim_end_matches('.').to_owned();
            self.faults.borrow_mut().push(Fault { path, must: error.to_string() });
            return None;
        }
        Some(self.object)
    }

    /// Returns the whole object as JSON text; adds a fault if it cannot be stored. Numbers beyond 64 bits become doubles.
    pub(super) fn raw_json(&self) -> Option<Box<RawValue>> {
        to_raw_value(self.require_storable()?).ok()
    }
}

pub(crate) const ORIGIN: &str = "must not be 0, 0, which devices send that do not know where they are";

pub(super) const POSITION: &str =
    "must be an object with the numbers lat from -90 to 90 and lng from -180 to 180";

pub(super) fn position(value: &Value) -> Option<Position> {
    Position::new(value.get("lng")?.as_f64()?, value.get("lat")?.as_f64()?)
}

/// Returns a whole JSON number, whether written `2` or `2.0`.
pub(super) fn whole(value: &Value) -> Option<i64> {
    let is_whole = |number: f64| number.fract() == 0.0 && number.abs() < EXACT;
    let from_float = || value.as_f64().filter(|&number| is_whole(number)).map(|number| number as i64);
    value.as_i64().or_else(from_float)
}

pub(super) fn code<T: TryFrom<u64>>(value: &Value) -> Option<T> {
    u64::try_from(whole(value)?).ok()?.try_into().ok()
}
