//! CAP fields of messages in feed entries, so that hubs need not fetch each message.

use std::io;

use super::notice::Notice;
use crate::formats::xml::{self, Xml};

/// The namespace of CAP. Its prefix must be `cap`, because some hubs look only at the prefix of an element.
pub(super) const NAMESPACE: (&str, &str) = ("xmlns:cap", "urn:oasis:names:tc:emergency:cap:1.2");

/// The namespace of `GeoRSS` (OGC 17-002r1), with which feed readers place entries on a map.
pub(super) const GEORSS: (&str, &str) = ("xmlns:georss", "http://www.georss.org/georss");

pub(super) fn write_georss(xml: &mut Xml<'_>, notice: &Notice<'_>) -> io::Result<()> {
    notice.georss().try_for_each(|ring| xml::text(xml, "georss:polygon", &ring))
}

pub(super) fn write(xml: &mut Xml<'_>, notice: &Notice<'_>) -> io::Result<()> {
    let event =
        notice.languages.first().and_then(|texts| texts.messages()["event"].as_str()).unwrap_or_default();
    for (name, value) in [
        ("cap:identifier", notice.identifier.as_str()),
        ("cap:sent", &notice.sent),
        ("cap:status", notice.alert.status.name()),
        ("cap:msgType", notice.alert.message.message_type.name()),
        ("cap:event", event),
        ("cap:urgency", notice.urgency()),
        ("cap:severity", notice.severity()),
        ("cap:certainty", "Observed"),
        ("cap:expires", &notice.expires),
        ("cap:areaDesc", &notice.area),
    ] {
        xml::text(xml, name, value)?;
    }
    notice.polygons().try_for_each(|polygon| xml::text(xml, "cap:polygon", polygon))
}
