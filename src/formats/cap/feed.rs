use std::io;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Options;
use super::alert::{self, Alert};
use super::polygons::Polygons;
use crate::formats::EncodeContext;
use crate::formats::xml::{self, Xml};
use crate::model::{FloodLayer, with_parameter};

/// The characters to escape in a query value: all except the unreserved ones of RFC 3986 §2.3.
const QUERY_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) struct Feed<'a> {
    floods: &'a FloodLayer,
    polygons: &'a Polygons,
    options: &'a Options,
    context: &'a EncodeContext,
    address: String,
    expires: String,
}

impl<'a> Feed<'a> {
    pub(super) fn new(
        options: &'a Options,
        context: &'a EncodeContext,
        floods: &'a FloodLayer,
        polygons: &'a Polygons,
    ) -> Self {
        let expires = context.now.saturating_add(options.expires_after);
        Self {
            floods,
            polygons,
            options,
            context,
            address: format!("{}/floods", context.base_url),
            expires: xml::date_time(expires, context.time_zone),
        }
    }

    pub(super) fn alerts(&self) -> impl Iterator<Item = Alert<'_>> {
        let positions = self.floods.selected().iter().map(|(position, _)| *position);
        self.floods.features().zip(positions).filter_map(|(flood, position)| {
            Alert::new(flood, self.polygons.get(position), self.options, self.context, &self.expires)
        })
    }

    pub(super) fn write(&self, xml: &mut Xml<'_>) -> io::Result<()> {
        let Self { floods, options, context, .. } = self;
        xml::element(xml, "feed", Some(("xmlns", "http://www.w3.org/2005/Atom")), |xml| {
            xml::text(xml, "id", &self.address)?;
            xml::text(xml, "title", &options.title)?;
            if let Some(not_covered) = &context.not_covered {
                xml::text(xml, "subtitle", not_covered)?;
            }
            xml::text(xml, "updated", &xml::date_time(context.now, context.time_zone))?;
            xml::element(xml, "author", None, |xml| {
                xml::text(xml, "name", &options.author)?;
                xml::text(xml, "uri", &options.web.0)
            })?;
            if let Some(path) = floods.path() {
                let self_url = with_parameter(&format!("{}/{path}", context.base_url), "geoformat", "cap");
                xml::link(xml, "self", Some("application/atom+xml"), &self_url)?;
            }
            self.alerts().try_for_each(|alert| {
                context.check().map_err(io::Error::other)?;
                entry(xml, &alert, &self.address)
            })
        })
    }
}

fn entry(xml: &mut Xml<'_>, alert: &Alert<'_>, address: &str) -> io::Result<()> {
    let value = |text| utf8_percent_encode(text, QUERY_VALUE);
    let id = format!(
        "{address}?parent_name={}&area_name={}&area_id={}&time={}",
        value(&alert.area.parent_name),
        value(&alert.area.name),
        alert.area.id,
        value(&alert.sent),
    );
    xml::element(xml, "entry", None, |xml| {
        xml::text(xml, "id", &id)?;
        xml::text(xml, "title", &format!("{} Flood Affected Area", alert.identifier))?;
        xml::text(xml, "updated", &alert.sent)?;
        xml::element(xml, "content", Some(("type", "text/xml")), |xml| alert::write(xml, alert))
    })
}
