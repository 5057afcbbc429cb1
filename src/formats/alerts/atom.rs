use std::io;
use std::sync::Arc;
use std::time::Duration;

use quick_xml::Writer;

use super::message::{self, Message};
use super::notice::Notice;
use super::{Notices, fields, writing};
use crate::formats::xml::{self, Xml};
use crate::formats::{Container, EncodeContext, EncodeError, Format};
use crate::model::{AlertLayer, Layer, LayerKind, with_parameter};

/// Writes messages as an Atom feed (RFC 4287). Entries link to the messages, and contain the CAP fields by which hubs filter.
#[derive(Clone, Debug)]
pub struct Atom(Notices);

/// An Atom feed with the whole message in each entry. Its own type, so that its responses are cached separately.
#[derive(Clone, Debug)]
struct Inline(Atom);

impl Atom {
    /// Creates the format.
    #[must_use]
    pub fn new(notices: Notices) -> Self {
        Self(notices)
    }
}

impl Format for Atom {
    fn name(&self) -> &'static str {
        "atom"
    }

    fn container(&self) -> Container {
        Container::XML
    }

    fn media_type(&self) -> &'static str {
        "application/atom+xml; charset=utf-8"
    }

    fn supports(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Alerts
    }

    fn entry_format(&self) -> Option<Arc<dyn Format>> {
        Some(Arc::new(Message(self.0.clone())))
    }

    fn inline(&self) -> Option<Arc<dyn Format>> {
        Some(Arc::new(Inline(self.clone())))
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        writing(self, write(&self.0, layer, context, out, None, fields::write))
    }
}

impl Format for Inline {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn container(&self) -> Container {
        self.0.container()
    }

    fn media_type(&self) -> &str {
        self.0.media_type()
    }

    fn supports(&self, kind: LayerKind) -> bool {
        self.0.supports(kind)
    }

    fn time_step(&self) -> Option<Duration> {
        self.0.time_step()
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let content = |xml: &mut Xml<'_>, notice: &Notice<'_>| {
            let media_type = ("type", "application/cap+xml");
            xml::element(xml, "content", Some(media_type), |xml| message::write(xml, notice))
        };
        writing(self, write(&self.0.0, layer, context, out, Some(("content", "inline")), content))
    }
}

type Parameter = (&'static str, &'static str);

/// Appends the feed. Adds `parameter` to the feed's own links. `content` writes the last elements of each entry.
fn write(
    notices: &Notices,
    layer: &Layer,
    context: &EncodeContext,
    out: &mut Vec<u8>,
    parameter: Option<Parameter>,
    content: impl Fn(&mut Xml<'_>, &Notice<'_>) -> io::Result<()>,
) -> io::Result<()> {
    notices.write(layer, context, |layer, all| {
        let mut xml = Writer::new(out);
        xml::declaration(&mut xml)?;
        let namespaces = [("xmlns", "http://www.w3.org/2005/Atom"), fields::NAMESPACE, fields::GEORSS];
        xml::element(&mut xml, "feed", namespaces, |xml| {
            head(xml, notices, layer, context, parameter)?;
            all.iter().try_for_each(|notice| {
                context.check().map_err(io::Error::other)?;
                entry(xml, notice, &content)
            })
        })
    })
}

/// Writes the feed's own elements, which precede the entries.
fn head(
    xml: &mut Xml<'_>,
    notices: &Notices,
    layer: &AlertLayer,
    context: &EncodeContext,
    parameter: Option<Parameter>,
) -> io::Result<()> {
    let address = |path: &str| format!("{}/{path}", context.base_url);
    let requested = |address: String| match parameter {
        Some((name, value)) => with_parameter(&address, name, value),
        None => address,
    };
    let cap = notices.cap();
    let self_url = address(&layer.path());
    xml::text(xml, "id", &self_url)?;
    xml::text(xml, "title", &cap.title)?;
    if layer.may_be_incomplete() {
        xml::text(xml, "subtitle", &notices.doubtful())?;
    }
    xml::text(xml, "updated", &xml::date_time(layer.last_changed(), context.time_zone))?;
    xml::element(xml, "author", None, |xml| {
        xml::text(xml, "name", &cap.author)?;
        xml::text(xml, "uri", &cap.web.0)
    })?;
    xml::link(xml, "self", Some("application/atom+xml"), &requested(self_url))?;
    if let Some(next) = layer.next_path() {
        xml::link(xml, "next", Some("application/atom+xml"), &requested(address(&next)))?;
    }
    Ok(())
}

fn entry(
    xml: &mut Xml<'_>,
    notice: &Notice<'_>,
    content: impl Fn(&mut Xml<'_>, &Notice<'_>) -> io::Result<()>,
) -> io::Result<()> {
    xml::element(xml, "entry", None, |xml| {
        xml::text(xml, "id", &notice.address)?;
        let (headline, summary) = notice.headline_and_summary();
        xml::text(xml, "title", &headline)?;
        xml::text(xml, "updated", &notice.sent)?;
        xml::link(xml, "alternate", Some("application/cap+xml"), &notice.document)?;
        // This link has no type: the library feedparser ignores links of types other than HTML, and then uses the identifier.
        xml::link(xml, "alternate", None, &notice.document)?;
        xml::text(xml, "summary", &summary)?;
        fields::write_georss(xml, notice)?;
        content(xml, notice)
    })
}
