use std::borrow::Cow;

use mime::Mime;
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Error, ErrorKind};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::escape::escape;

use super::options::Kind;
use super::shapes::Shape;
use crate::formats::well_formed;
use crate::formats::xml_text::sanitize;

/// How a template escapes values. Derived from the media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escaping {
    Xml,
    /// Escapes like `Xml`. The document is an HTML page, which need not be well-formed XML.
    Html,
    Json,
    /// Escapes like `Json`. The document is a sequence of JSON values, not a single JSON value.
    JsonLines,
    Csv,
    Address,
    Plain,
}

impl Escaping {
    pub(super) fn for_media_type(media_type: &Mime) -> Self {
        match media_type.essence_str().rsplit(['/', '+']).next() {
            Some("xml") => Self::Xml,
            Some("html") => Self::Html,
            Some("json") => Self::Json,
            Some("json-seq" | "jsonl" | "ndjson" | "x-ndjson") => Self::JsonLines,
            Some("csv") => Self::Csv,
            _ => Self::Plain,
        }
    }

    pub(super) fn container(self) -> Kind {
        match self {
            Self::Xml => Kind::Xml,
            Self::Html => Kind::Html,
            Self::Json => Kind::Json,
            Self::JsonLines | Self::Csv | Self::Address | Self::Plain => Kind::Text,
        }
    }

    /// Checks that an XML or JSON document is well-formed; accepts all other documents.
    pub(super) fn check(self, document: &[u8]) -> Result<(), String> {
        match self {
            Self::Xml => well_formed::xml(document).map_err(|fault| format!("no XML: {fault}")),
            Self::Json => well_formed::json(document).map_err(|fault| format!("no JSON: {fault}")),
            Self::Html | Self::JsonLines | Self::Csv | Self::Address | Self::Plain => Ok(()),
        }
    }

    /// Returns the engine's escaping mode. The engine marks text that a block captures as safe, so that it is not escaped again.
    pub(super) fn mode(self) -> AutoEscape {
        match self {
            Self::Plain => AutoEscape::None,
            // The engine does not use the name: the formatter escapes the values.
            _ => AutoEscape::Custom("by the media type".into()),
        }
    }

    pub(super) fn escaped(self, value: &Value) -> Result<Cow<'_, str>, Error> {
        if let Some(text) = value.as_str().filter(|_| value.is_safe()) {
            return Ok(Cow::Borrowed(text));
        }
        Ok(match self {
            Self::Json | Self::JsonLines => Cow::Owned(json(value)?),
            Self::Xml | Self::Html => map_cow(text(value)?, |text| escape(sanitize(text))),
            Self::Csv if value.kind() == ValueKind::Number => text(value)?,
            Self::Csv => map_cow(text(value)?, field),
            Self::Address => map_cow(text(value)?, in_address),
            Self::Plain => text(value)?,
        })
    }

    /// Returns an error text if the media type has no escaping, although the document looks like XML or JSON.
    pub(super) fn mismatch(self, media_type: &Mime, document: &[u8]) -> Option<String> {
        let essence = media_type.essence_str();
        let is_text = matches!(essence, "text/plain" | "text/markdown");
        let document = document.strip_prefix("\u{feff}".as_bytes()).unwrap_or(document);
        let suffix = match document.trim_ascii_start() {
            _ if self != Self::Plain || is_text => return None,
            [b'<', b'?' | b'!', ..] => "xml",
            [b'<', next, ..] if next.is_ascii_alphabetic() => "xml",
            [b'{' | b'[', ..] => "json",
            _ => return None,
        };
        let page = if suffix == "xml" { ", or text/html of a page" } else { "" };
        Some(format!(
            "must be {essence}+{suffix}{page}, for the template makes what begins as {} does, and under {essence} no \
             value is escaped",
            suffix.to_ascii_uppercase(),
        ))
    }
}

/// Implements the filter `html`: escapes a value as HTML text. When the result is printed, the formatter escapes it once more.
pub(super) fn html(value: &Value) -> Result<String, Error> {
    // Not every HTML parser knows the XML entity `&apos;`.
    Ok(escape(text(value)?).replace("&apos;", "&#39;"))
}

fn map_cow<'a>(text: Cow<'a, str>, make: impl for<'b> Fn(&'b str) -> Cow<'b, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => make(text),
        Cow::Owned(text) => Cow::Owned(make(&text).into_owned()),
    }
}

/// Returns a value as text: an empty text for null, JSON for lists and objects.
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

/// The characters to escape in any part of an address.
const IN_ADDRESS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn in_address(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, IN_ADDRESS).into()
}

/// Characters with which a spreadsheet formula can begin. Some spreadsheets also accept the full-width forms.
const FORMULAS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// Returns a CSV field (RFC 4180), quoted if needed. A text that looks like a formula gets an apostrophe in front, so that
/// spreadsheets do not run a formula that a stranger sent in a report.
fn field(text: &str) -> Cow<'_, str> {
    let formula = text.starts_with(['\t', '\r', '\n']) || text.trim_start().starts_with(FORMULAS);
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
