use std::io;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::Writer;

use super::Options;
use super::alert::{self, Alert};
use super::polygons::Polygons;
use crate::formats::EncodeContext;
use crate::formats::xml::{self, Xml};
use crate::model::{FloodLayer, with_parameter};

/// All characters except the unreserved ones of RFC 3986 §2.3.
const QUERY_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What all entries of a feed have in common.
struct Feed<'a> {
    options: &'a Options,
    context: &'a EncodeContext,
    /// The address of the resource.
    address: String,
    /// When its alerts expire.
    expires: String,
}

impl<'a> Feed<'a> {
    fn new(options: &'a Options, context: &'a EncodeContext) -> Self {
        let expires = context.now.after(options.expires_after);
        Self {
            options,
            context,
            address: format!("{}/floods", context.base_url),
            expires: xml::date_time(expires, context.time_zone),
        }
    }

    /// Returns the alerts of the areas that have a state.
    fn alerts(&'a self, floods: &'a FloodLayer, polygons: &'a Polygons) -> impl Iterator<Item = Alert<'a>> {
        let positions = floods.selected().iter().map(|(position, _)| *position);
        let with_polygons = floods.features().zip(positions);
        with_polygons.filter_map(move |(flood, position)| {
            Alert::new(flood, polygons.of(position), self.options, self.context, &self.expires)
        })
    }
}

/// Appends the alert about the one area of a layer, as a document of its own.
pub(super) fn write_alert(
    floods: &FloodLayer,
    polygons: &Polygons,
    options: &Options,
    context: &EncodeContext,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let feed = Feed::new(options, context);
    let mut alerts = feed.alerts(floods, polygons);
    let (Some(alert), None) = (alerts.next(), alerts.next()) else {
        return Err(io::Error::other("a document holds the alert about one flooded area"));
    };
    let mut xml = Writer::new(out);
    xml::declaration(&mut xml)?;
    alert::write(&mut xml, &alert)
}

/// Appends the feed (RFC 4287) of all areas that have a state.
pub(super) fn write(
    floods: &FloodLayer,
    polygons: &Polygons,
    options: &Options,
    context: &EncodeContext,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let feed = Feed::new(options, context);
    let mut xml = Writer::new(out);
    xml::declaration(&mut xml)?;
    xml::element(&mut xml, "feed", Some(("xmlns", "http://www.w3.org/2005/Atom")), |xml| {
        xml::text(xml, "id", &feed.address)?;
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
            let own = with_parameter(&format!("{}/{path}", context.base_url), "geoformat", "cap");
            xml::link(xml, "self", Some("application/atom+xml"), &own)?;
        }
        feed.alerts(floods, polygons).try_for_each(|alert| {
            context.check().map_err(io::Error::other)?;
            entry(xml, &alert, &feed.address)
        })
    })
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
