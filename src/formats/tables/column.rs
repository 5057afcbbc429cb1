use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::model::{Timestamp, digits};

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: Kind,
    pub(crate) description: Cow<'static, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Number,
    Text,
    Moment,
    Truth,
}

impl Kind {
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Integer => json!({ "type": "integer" }),
            Self::Number => json!({ "type": "number" }),
            Self::Text => json!({ "type": "string" }),
            Self::Moment => json!({ "type": "string", "format": "date-time" }),
            Self::Truth => json!({ "type": "boolean" }),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FieldValue<'a> {
    None,
    Integer(i64),
    Number(f64),
    Text(Cow<'a, str>),
    Moment(Timestamp),
    Truth(bool),
}

impl<'a> FieldValue<'a> {
    pub(crate) fn text(text: &'a str) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn some_text(text: &'a str) -> Self {
        if text.is_empty() { Self::None } else { Self::text(text) }
    }

    /// Creates an integer; `None` if the number needs more than 63 bits.
    pub(crate) fn integer(number: u64) -> Self {
        i64::try_from(number).map_or(Self::None, Self::Integer)
    }
}

impl<T: Into<Self>> From<Option<T>> for FieldValue<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl<'a> From<&'a str> for FieldValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::text(text)
    }
}

impl fmt::Display for FieldValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Integer(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Moment(moment) => moment.fmt(f),
            Self::Truth(truth) => truth.fmt(f),
        }
    }
}

impl Serialize for FieldValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_none(),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Moment(moment) => moment.serialize(serializer),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueFilter {
    Integer(i64),
    /// The bits of an `f64`, so that the filter can be hashed.
    Number(u64),
    Text(String),
    Moment(Timestamp),
    Truth(bool),
}

impl ValueFilter {
    pub(crate) fn parse(kind: Kind, text: &str) -> Result<Self, String> {
        let parsed = match kind {
            Kind::Integer => {
                let (sign, number) = text.strip_prefix('-').map_or((1, text), |number| (-1, number));
                let number = digits(number).and_then(|number| i64::try_from(number).ok());
                number.map(|number| Self::Integer(sign * number)).ok_or("must be a whole number")
            }
            Kind::Number => match text.parse::<f64>() {
                // Adding zero makes −0 and 0 equal.
                Ok(number) if number.is_finite() => Ok(Self::Number((number + 0.0).to_bits())),
                _ => Err("must be a number"),
            },
            Kind::Text => Ok(Self::Text(text.to_owned())),
            Kind::Moment => {
                return Timestamp::parse(text).map(Self::Moment).map_err(|error| error.to_string());
            }
            Kind::Truth => match text {
                "true" => Ok(Self::Truth(true)),
                "false" => Ok(Self::Truth(false)),
                _ => Err("must be true or false"),
            },
        };
        parsed.map_err(str::to_owned)
    }

    pub(crate) fn matches(&self, cell: &FieldValue<'_>) -> bool {
        match (self, cell) {
            (Self::Integer(required), FieldValue::Integer(found)) => required == found,
            (Self::Number(required), FieldValue::Number(found)) => *required == (found + 0.0).to_bits(),
            (Self::Text(required), FieldValue::Text(found)) => required == found,
            (Self::Moment(required), FieldValue::Moment(found)) => required == found,
            (Self::Truth(required), FieldValue::Truth(found)) => required == found,
            _ => false,
        }
    }
}
