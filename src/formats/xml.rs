use std::io;

use chrono::FixedOffset;
use chrono_tz::Tz;
use quick_xml::Writer;
use quick_xml::events::{BytesText, Event};

use crate::formats::xml_text::sanitize;
use crate::model::Timestamp;

pub(super) type Xml<'a> = Writer<&'a mut Vec<u8>>;

pub(super) fn text(xml: &mut Xml<'_>, name: &str, text: &str) -> io::Result<()> {
    xml.create_element(name).write_text_content(BytesText::new(&sanitize(text)))?;
    Ok(())
}

pub(super) fn element<'a>(
    xml: &mut Xml<'a>,
    name: &str,
    attributes: impl IntoIterator<Item = (&'static str, &'static str)>,
    content: impl FnOnce(&mut Xml<'a>) -> io::Result<()>,
) -> io::Result<()> {
    xml.create_element(name).with_attributes(attributes).write_inner_content(content)?;
    Ok(())
}

pub(super) fn link(xml: &mut Xml<'_>, rel: &str, media_type: Option<&str>, address: &str) -> io::Result<()> {
    let media_type = media_type.map(|media_type| ("type", media_type));
    let attributes = [("rel", rel)].into_iter().chain(media_type).chain([("href", address)]);
    xml.create_element("link").with_attributes(attributes).write_empty()?;
    Ok(())
}

pub(super) fn declaration(xml: &mut Xml<'_>) -> io::Result<()> {
    xml.write_event(Event::Decl(quick_xml::events::BytesDecl::new("1.0", Some("UTF-8"), None)))
}

/// Returns whether a character is forbidden in CAP's `identifier` and `sender` (CAP 1.2 §3.2.1).
pub(super) fn forbidden_in_identifier(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, ',' | '<' | '&')
}

/// Formats a time for CAP and Atom: `2016-12-19T22:41:35+07:00`. UTC is `-00:00`, as CAP 1.2 §3.3.2 requires.
pub(super) fn date_time(moment: Timestamp, zone: Tz) -> String {
    let local = moment.to_utc().with_timezone(&zone).fixed_offset();
    let date_time = local.format("%Y-%m-%dT%H:%M:%S");
    if local.offset() == &FixedOffset::east_opt(0).unwrap_or(*local.offset()) {
        format!("{date_time}-00:00")
    } else {
        format!("{date_time}{}", local.format("%:z"))
    }
}
