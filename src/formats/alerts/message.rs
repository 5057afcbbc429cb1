use std::io;
use std::time::Duration;

use quick_xml::Writer;

use super::notice::{Notice, NoticeText};
use super::{Notices, writing};
use crate::formats::xml::{self, Xml};
use crate::formats::{Container, EncodeContext, EncodeError, Format};
use crate::model::{Layer, LayerKind};

#[derive(Clone, Debug)]
pub(super) struct Message(pub(super) Notices);

impl Format for Message {
    fn name(&self) -> &'static str {
        "cap"
    }

    fn container(&self) -> Container {
        Container::XML
    }

    fn media_type(&self) -> &'static str {
        "application/cap+xml"
    }

    fn supports(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Alerts
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let result = self.0.write(layer, context, |_, notices| {
            let [notice] = notices else {
                return Err(io::Error::other("a document holds one message"));
            };
            let mut xml = Writer::new(out);
            xml::declaration(&mut xml)?;
            write(&mut xml, notice)
        });
        writing(self, result)
    }
}

/// Writes the message. The elements are in the order of the CAP 1.2 schema.
pub(super) fn write(xml: &mut Xml<'_>, notice: &Notice<'_>) -> io::Result<()> {
    let namespace = ("xmlns", "urn:oasis:names:tc:emergency:cap:1.2");
    xml::element(xml, "alert", Some(namespace), |xml| {
        xml::text(xml, "identifier", &notice.identifier)?;
        xml::text(xml, "sender", notice.sender)?;
        xml::text(xml, "sent", &notice.sent)?;
        xml::text(xml, "status", notice.alert.status.name())?;
        xml::text(xml, "msgType", notice.alert.message.message_type.name())?;
        xml::text(xml, "scope", "Public")?;
        if let Some(references) = notice.references() {
            xml::text(xml, "references", &references)?;
        }
        notice.texts().try_for_each(|text| xml::element(xml, "info", None, |xml| info(xml, notice, &text)))
    })
}

fn info(xml: &mut Xml<'_>, notice: &Notice<'_>, text: &NoticeText<'_>) -> io::Result<()> {
    let message = notice.alert.message;
    xml::text(xml, "language", text.language)?;
    xml::text(xml, "category", "Met")?;
    xml::text(xml, "event", text.event)?;
    xml::text(xml, "responseType", notice.response())?;
    xml::text(xml, "urgency", notice.urgency())?;
    xml::text(xml, "severity", notice.severity())?;
    xml::text(xml, "certainty", "Observed")?;
    // The code for floods in the OASIS Event Terms List.
    value(xml, "eventCode", "OET:v1.2", "OET-081")?;
    xml::text(xml, "expires", &notice.expires)?;
    xml::text(xml, "senderName", notice.sender_name)?;
    xml::text(xml, "headline", &text.headline)?;
    xml::text(xml, "description", &text.description)?;
    xml::text(xml, "instruction", text.instruction)?;
    xml::text(xml, "web", &notice.web())?;
    if let Some(contact) = &notice.options.contact {
        xml::text(xml, "contact", contact)?;
    }
    if let Some(depth) = text.depth {
        value(xml, "parameter", "flood_state", &message.state.code().to_string())?;
        value(xml, "parameter", "depth", depth)?;
    }
    value(xml, "parameter", "last_confirmed", &notice.date_time(message.last_confirmed))?;
    xml::element(xml, "area", None, |xml| {
        xml::text(xml, "areaDesc", &notice.area)?;
        notice.polygons().try_for_each(|polygon| xml::text(xml, "polygon", polygon))
    })
}

fn value(xml: &mut Xml<'_>, element: &str, name: &str, value: &str) -> io::Result<()> {
    xml::element(xml, element, None, |xml| {
        xml::text(xml, "valueName", name)?;
        xml::text(xml, "value", value)
    })
}
