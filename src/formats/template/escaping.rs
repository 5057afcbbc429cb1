use std::borrow::Cow;

use mime::Mime;
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Error, ErrorKind};
use quick_xml::escape::escape;

use super::options::Kind;
use super::shapes::Shape;
use crate::formats::well_formed;
use crate::formats::xml_text::allowed;

/// How the values a template prints are written, which follows from its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escaping {
    /// As text of XML, fit for attributes in quotes as well.
    Xml,
    /// The same in a page, which need not be XML.
    Html,
    /// As a JSON value: texts in quotes.
    Json,
    /// The same in a sequence of JSON values, which is none by itself.
    JsonLines,
    /// As a field of CSV.
    Csv,
    /// As it is.
    Plain,
}

impl Escaping {
    pub(super) fn of(media_type: &Mime) -> Self {
        match media_type.essence_str().rsplit(['/', '+']).next() {
            Some("xml") => Self::Xml,
            Some("html") => Self::Html,
            Some("json") => Self::Json,
            Some("json-seq" | "jsonl" | "ndjson" | "x-ndjson") => Self::JsonLines,
            Some("csv") => Self::Csv,
            _ => Self::Plain,
        }
    }

    /// The container of such documents, unless the configuration names another.
    pub(super) fn container(self) -> Kind {
        match self {
            Self::Xml => Kind::Xml,
            Self::Html => Kind::Html,
            Self::Json => Kind::Json,
            Self::JsonLines | Self::Csv | Self::Plain => Kind::Text,
        }
    }

    /// What is wrong with a document, where that can be told.
    pub(super) fn check(self, document: &[u8]) -> Result<(), String> {
        match self {
            Self::Xml => well_formed::xml(document).map_err(|fault| format!("no XML: {fault}")),
            Self::Json => well_formed::json(document).map_err(|fault| format!("no JSON: {fault}")),
            Self::Html | Self::JsonLines | Self::Csv | Self::Plain => Ok(()),
        }
    }

    /// The mode in which the engine renders; what a block captures in it is not escaped again.
    pub(super) fn mode(self) -> AutoEscape {
        match self {
            Self::Plain => AutoEscape::None,
            // The name is for nobody: the formatter knows what to do.
            _ => AutoEscape::Custom("by the media type".into()),
        }
    }

    /// A value as it is written.
    pub(super) fn escaped(self, value: &Value) -> Result<Cow<'_, str>, Error> {
        // What the template has made of escaped text, or says is safe.
        if let Some(text) = value.as_str().filter(|_| value.is_safe()) {
            return Ok(Cow::Borrowed(text));
        }
        Ok(match self {
            Self::Json | Self::JsonLines => Cow::Owned(json(value)?),
            Self::Xml | Self::Html => mapped(text(value)?, |text| escape(allowed(text))),
            Self::Csv if value.kind() == ValueKind::Number => text(value)?,
            Self::Csv => mapped(text(value)?, field),
            Self::Plain => text(value)?,
        })
    }

    /// Why a document does not fit a media type: its values are written as they are, and it looks as though they must not.
    pub(super) fn unfit(self, media_type: &Mime, document: &[u8]) -> Option<String> {
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

/// The filter `html`: a value as text of a page, to be escaped once more where it is printed.
pub(super) fn html(value: &Value) -> Result<String, Error> {
    // Not every reader of HTML knows the name that XML has for it.
    Ok(escape(text(value)?).replace("&apos;", "&#39;"))
}

/// What is made of a text, which often is the text itself.
fn mapped<'a>(text: Cow<'a, str>, make: impl for<'b> Fn(&'b str) -> Cow<'b, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => make(text),
        Cow::Owned(text) => Cow::Owned(make(&text).into_owned()),
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

/// What begins a formula: some spreadsheets take the wide forms of East Asia for the others.
const FORMULAS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// A field of CSV (RFC 4180), in quotes where it needs them.
///
/// Spreadsheets take a text for a formula that begins as one does, and so run what a stranger has sent in a report: such a
/// text gets an apostrophe before it, which they take for "this is text".
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
