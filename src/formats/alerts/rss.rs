use std::io;
use std::sync::Arc;
use std::time::Duration;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::message::Message;
use super::notice::Notice;
use super::{Notices, fields, writing};
use crate::formats::xml::{self, Xml};
use crate::formats::{Container, EncodeContext, EncodeError, Format};
use crate::model::{Layer, LayerKind, Timestamp, with_parameter};

/// Writes the messages of [`Atom`](super::Atom) as an RSS 2.0 feed.
#[derive(Clone, Debug)]
pub struct Rss(Notices);

impl Rss {
    /// Creates the format.
    #[must_use]
    pub fn new(notices: Notices) -> Self {
        Self(notices)
    }
}

impl Format for Rss {
    fn name(&self) -> &'static str {
        "rss"
    }

    fn container(&self) -> Container {
        Container::XML
    }

    fn media_type(&self) -> &'static str {
        "application/rss+xml; charset=utf-8"
    }

    fn supports(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Alerts
    }

    fn entry_format(&self) -> Option<Arc<dyn Format>> {
        Some(Arc::new(Message(self.0.clone())))
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let result = self.0.write(layer, context, |layer, notices| {
            let mut xml = Writer::new(out);
            xml::declaration(&mut xml)?;
            let atom = ("xmlns:atom", "http://www.w3.org/2005/Atom");
            let attributes = [("version", "2.0"), atom, fields::NAMESPACE, fields::GEORSS];
            xml::element(&mut xml, "rss", attributes, |xml| {
                xml::element(xml, "channel", None, |xml| {
                    let cap = self.0.cap();
                    let address = format!("{}/{}", context.base_url, layer.path());
                    xml::text(xml, "title", &cap.title)?;
                    xml::text(xml, "link", &cap.web.0)?;
                    let doubt = layer.may_be_incomplete().then(|| self.0.doubtful());
                    xml::text(xml, "description", doubt.as_deref().unwrap_or(&cap.author))?;
                    xml::text(xml, "lastBuildDate", &date(layer.last_changed(), context))?;
                    let link = with_parameter(&address, "geoformat", "rss");
                    let link = [("rel", "self"), ("type", "application/rss+xml"), ("href", link.as_str())];
                    xml.create_element("atom:link").with_attributes(link).write_empty()?;
                    notices.iter().try_for_each(|notice| {
                        context.check().map_err(io::Error::other)?;
                        item(xml, notice, context)
                    })
                })
            })
        });
        writing(self, result)
    }
}

fn item(xml: &mut Xml<'_>, notice: &Notice<'_>, context: &EncodeContext) -> io::Result<()> {
    xml::element(xml, "item", None, |xml| {
        let (headline, summary) = notice.headline_and_summary();
        xml::text(xml, "title", &headline)?;
        xml::text(xml, "link", &notice.document)?;
        xml::text(xml, "description", &summary)?;
        let address = BytesText::new(&notice.address);
        xml.create_element("guid").with_attribute(("isPermaLink", "true")).write_text_content(address)?;
        xml::text(xml, "pubDate", &date(notice.alert.message.sent, context))?;
        fields::write_georss(xml, notice)?;
        fields::write(xml, notice)
    })
}

/// Formats a time as in RFC 822, with a four-digit year.
fn date(moment: Timestamp, context: &EncodeContext) -> String {
    moment.to_utc().with_timezone(&context.time_zone).to_rfc2822()
}
