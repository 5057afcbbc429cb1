//! Checks that documents are well-formed, for authors of formats.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde::de::IgnoredAny;

/// Checks that a JSON document is well-formed.
///
/// # Errors
///
/// The position of the first fault.
pub fn json(document: &[u8]) -> Result<(), String> {
    serde_json::from_slice::<IgnoredAny>(document).map(drop).map_err(|error| error.to_string())
}

/// Checks that an XML document is well-formed; it may still be invalid.
///
/// # Errors
///
/// The first fault.
pub fn xml(document: &[u8]) -> Result<(), String> {
    let mut reader = Reader::from_reader(document);
    reader.config_mut().check_end_names = true;
    reader.config_mut().check_comments = true;
    let (mut depth, mut roots) = (0_usize, 0_usize);
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Decl(_) if !document.starts_with(b"<?xml") => {
                return Err("<?xml stands elsewhere than at the very beginning".to_owned());
            }
            Event::Start(element) | Event::Empty(element) if depth == 0 && roots > 0 => {
                let name = element.name().as_ref().to_owned();
                return Err(format!("<{name}> stands beside the root element"));
            }
            Event::Start(element) => {
                attributes(&element)?;
                roots += usize::from(depth == 0);
                depth += 1;
            }
            Event::Empty(element) => {
                attributes(&element)?;
                roots += usize::from(depth == 0);
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(text) if depth == 0 && !text.trim().is_empty() => {
                return Err("text stands outside of the root element".to_owned());
            }
            Event::GeneralRef(name) if !is_known(&name) => {
                return Err(format!("&{}; is unknown", &*name));
            }
            Event::Eof if roots == 0 => return Err("it has no element".to_owned()),
            Event::Eof if depth > 0 => return Err("it ends before its root element does".to_owned()),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// Fails if an attribute occurs twice, is malformed or contains `<`.
fn attributes(element: &BytesStart<'_>) -> Result<(), String> {
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.value.contains('<') {
            return Err("an attribute holds <".to_owned());
        }
    }
    Ok(())
}

/// Returns whether every XML document may use a reference: a character reference, or one of XML's five predefined entities.
fn is_known(name: &str) -> bool {
    name.starts_with('#') || matches!(name, "amp" | "lt" | "gt" | "quot" | "apos")
}
