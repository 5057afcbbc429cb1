use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde::de::IgnoredAny;

/// What is wrong with a document of JSON.
pub(super) fn json(document: &[u8]) -> Result<(), String> {
    serde_json::from_slice::<IgnoredAny>(document).map(drop).map_err(|error| format!("no JSON: {error}"))
}

/// What is wrong with a document of XML: whether it is well-formed, not whether it is valid.
pub(super) fn xml(document: &[u8]) -> Result<(), String> {
    let wrong = |what: &dyn std::fmt::Display| format!("no XML: {what}");
    let mut reader = Reader::from_reader(document);
    reader.config_mut().check_end_names = true;
    reader.config_mut().check_comments = true;
    let (mut depth, mut roots) = (0_usize, 0_usize);
    loop {
        match reader.read_event().map_err(|error| wrong(&error))? {
            Event::Decl(_) if !document.starts_with(b"<?xml") => {
                return Err(wrong(&"<?xml stands elsewhere than at the very beginning"));
            }
            Event::Start(element) | Event::Empty(element) if depth == 0 && roots > 0 => {
                let name = element.name().as_ref().to_owned();
                return Err(wrong(&format!("<{name}> stands beside the root element")));
            }
            Event::Start(element) => {
                attributes(&element).map_err(|error| wrong(&error))?;
                roots += usize::from(depth == 0);
                depth += 1;
            }
            Event::Empty(element) => {
                attributes(&element).map_err(|error| wrong(&error))?;
                roots += usize::from(depth == 0);
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(text) if depth == 0 && !text.trim().is_empty() => {
                return Err(wrong(&"text stands outside of the root element"));
            }
            Event::GeneralRef(name) if !is_known(&name) => {
                return Err(wrong(&format!("&{}; is unknown", &*name)));
            }
            Event::Eof if depth > 0 || roots == 0 => {
                return Err(wrong(&"it ends before its root element does"));
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// What is wrong with the attributes of an element.
fn attributes(element: &BytesStart<'_>) -> Result<(), String> {
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.value.contains('<') {
            return Err("an attribute holds <".to_owned());
        }
    }
    Ok(())
}

/// Whether every reader knows what an entity stands for: a character, or one of XML's five.
fn is_known(name: &str) -> bool {
    name.starts_with('#') || matches!(name, "amp" | "lt" | "gt" | "quot" | "apos")
}
