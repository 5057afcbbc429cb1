use std::io;

use super::Options;
use crate::formats::EncodeContext;
use crate::formats::xml::{self, Xml};
use crate::model::{Area, FloodFeature, FloodState};

pub(super) struct Alert<'a> {
    pub(super) area: &'a Area,
    pub(super) identifier: String,
    pub(super) sent: String,
    state: FloodState,
    expires: &'a str,
    sender: &'a str,
    sender_name: &'a str,
    description: String,
    options: &'a Options,
    polygons: &'a [u8],
}

impl<'a> Alert<'a> {
    /// Creates the alert for an area; `None` if the area is dry.
    pub(super) fn new(
        FloodFeature { area, current, .. }: FloodFeature<'a>,
        polygons: &'a [u8],
        options: &'a Options,
        context: &EncodeContext,
        expires: &'a str,
    ) -> Option<Self> {
        let current = current?;
        let (sender, sender_name) = options.agency(area);
        let sent = xml::date_time(current.last_updated, context.time_zone);
        let local = current.last_updated.to_utc().with_timezone(&context.time_zone);
        Some(Self {
            identifier: identifier(area, &sent),
            state: current.state,
            expires,
            description: format!(
                "AT {} THE {} OBSERVED {} IN {}.",
                local.format("%H:%M %Z"),
                sender_name,
                description(current.state),
                join_nonempty([&area.parent_name, &area.name], ", "),
            ),
            sent,
            sender,
            sender_name,
            area,
            options,
            polygons,
        })
    }
}

/// Writes the alert. The elements are in the order of the CAP 1.2 schema.
pub(super) fn write(xml: &mut Xml<'_>, alert: &Alert<'_>) -> io::Result<()> {
    let namespace = ("xmlns", "urn:oasis:names:tc:emergency:cap:1.2");
    xml::element(xml, "alert", Some(namespace), |xml| {
        xml::text(xml, "identifier", &alert.identifier)?;
        xml::text(xml, "sender", alert.sender)?;
        xml::text(xml, "sent", &alert.sent)?;
        xml::text(xml, "status", alert.options.status.name())?;
        xml::text(xml, "msgType", "Alert")?;
        xml::text(xml, "scope", "Public")?;
        xml::element(xml, "info", None, |xml| info(xml, alert))
    })
}

fn info(xml: &mut Xml<'_>, alert: &Alert<'_>) -> io::Result<()> {
    xml::text(xml, "category", "Met")?;
    xml::text(xml, "event", "FLOODING")?;
    xml::text(xml, "urgency", "Immediate")?;
    xml::text(xml, "severity", alert.state.severity())?;
    xml::text(xml, "certainty", "Observed")?;
    xml::text(xml, "expires", alert.expires)?;
    xml::text(xml, "senderName", alert.sender_name)?;
    xml::text(xml, "headline", &alert.options.headline)?;
    xml::text(xml, "description", &alert.description)?;
    xml::text(xml, "web", &alert.options.web.0)?;
    xml::element(xml, "area", None, |xml| {
        xml::text(xml, "areaDesc", &join_nonempty([&alert.area.name, &alert.area.parent_name], ", "))?;
        // Written unescaped: the text contains only `polygon` elements with numbers, spaces and commas.
        xml.get_mut().extend_from_slice(alert.polygons);
        Ok(())
    })
}

/// Joins parent name, area name and time by dots, and replaces characters that CAP forbids in identifiers.
fn identifier(area: &Area, sent: &str) -> String {
    join_nonempty([&area.parent_name, &area.name, sent], ".").replace(xml::forbidden_in_identifier, "_")
}

fn join_nonempty<const N: usize>(parts: [&str; N], separator: &str) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(separator)
}

fn description(state: FloodState) -> &'static str {
    match state {
        FloodState::Unknown => "AN UNKNOWN LEVEL OF FLOODING - USE CAUTION -",
        FloodState::Minor => "FLOODING OF BETWEEN 10 and 70 CENTIMETERS",
        FloodState::Moderate => "FLOODING OF BETWEEN 71 and 150 CENTIMETERS",
        FloodState::Severe => "FLOODING OF OVER 150 CENTIMETERS",
    }
}
