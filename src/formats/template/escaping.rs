use std::borrow::Cow;

use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Error, ErrorKind, Output};
use quick_xml::escape::escape;
use rocket::http::MediaType;

use super::shapes::Shape;
use crate::formats::xml_text::allowed;

/// How the values a template prints are written, which follows from its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escaping {
    /// As text of XML, fit for attributes in quotes as well.
    Xml,
    /// As a JSON value: texts in quotes.
    Json,
    /// As a field of CSV.
    Csv,
    /// As it is.
    Plain,
}

impl Escaping {
    pub(super) fn of(media_type: &MediaType) -> Self {
        let sub = media_type.sub().as_str().to_ascii_lowercase();
        match sub.rsplit('+').next() {
            Some("xml" | "html") => Self::Xml,
            Some("json") => Self::Json,
            Some("csv") => Self::Csv,
            _ => Self::Plain,
        }
    }

    /// The mode in which the engine renders; what a block captures in it is not escaped again.
    pub(super) fn mode(self) -> AutoEscape {
        match self {
            Self::Xml => AutoEscape::Custom("xml".into()),
            Self::Json => AutoEscape::Custom("json".into()),
            Self::Csv => AutoEscape::Custom("csv".into()),
            Self::Plain => AutoEscape::None,
        }
    }

    /// Writes a value.
    pub(super) fn write(self, value: &Value, out: &mut Output<'_>) -> Result<(), Error> {
        // What the template has made of escaped text, or says is safe.
        if let Some(text) = value.as_str().filter(|_| value.is_safe()) {
            return Ok(out.write_str(text)?);
        }
        match self {
            Self::Json => out.write_str(&json(value)?)?,
            Self::Xml => out.write_str(&escape(allowed(&text(value)?)))?,
            Self::Csv if value.kind() == ValueKind::Number => out.write_str(&text(value)?)?,
            Self::Csv => out.write_str(&field(&text(value)?))?,
            Self::Plain => out.write_str(&text(value)?)?,
        }
        Ok(())
    }
}

/// A value as text: nothing for null, and JSON for what is neither text nor number nor `true` or `false`.
fn text(value: &Value) -> Result<Cow<'_, str>, Error> {
    Ok(match value.kind() {
        ValueKind::Undefined | ValueKind::None => Cow::Borrowed(""),
        ValueKind::Bool => Cow::Borrowed(if value.is_true() { "true" } else { "false" }),
        ValueKind::Number => Cow::Owned(value.to_string()),
        ValueKind::String => Cow::Borrowed(value.as_str().unwrap_or_default()),
        _ => Cow::Owned(json(value)?),
    })
}

fn json(value: &Value) -> Result<String, Error> {
    if let Some(shape) = value.downcast_object_ref::<Shape>() {
        return Ok(shape.json());
    }
    serde_json::to_string(value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, "is no JSON").with_source(error))
}

/// A field of CSV (RFC 4180), in quotes where it needs them.
///
/// Spreadsheets take a text for a formula that begins as one does, and so run what a stranger has sent in a report: such a
/// text gets an apostrophe before it, which they take for "this is text".
fn field(text: &str) -> Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let quoted = text.contains(['"', ',', ';', '\r', '\n', '\t']) || text.trim() != text;
    match (formula, quoted) {
        (false, false) => Cow::Borrowed(text),
        (true, false) => Cow::Owned(format!("'{text}")),
        (_, true) => {
            let apostrophe = if formula { "'" } else { "" };
            Cow::Owned(format!("\"{apostrophe}{}\"", text.replace('"', "\"\"")))
        }
    }
}
