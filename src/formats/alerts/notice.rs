use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::outlines::Outlines;
use super::words::{Names, name, substitute};
use super::{Options, Shared};
use crate::data::country::Translations;
use crate::formats::{EncodeContext, xml};
use crate::model::alerts::{MessageType, Status};
use crate::model::{AlertFeature, Area, FloodState, Timestamp, place_name};

/// The maximum length of `areaDesc` in characters: Google displays at most this many.
const AREA: usize = 49;

pub(crate) struct Notice<'a> {
    pub(crate) alert: AlertFeature<'a>,
    pub(crate) identifier: String,
    pub(crate) address: String,
    /// The address that always returns the XML document, without content negotiation.
    pub(crate) document: String,
    pub(crate) sender: &'a str,
    pub(crate) sender_name: &'a str,
    pub(crate) sent: String,
    pub(crate) expires: String,
    /// CAP `areaDesc`: the names of the area and of the larger area that contains it.
    pub(crate) area: String,
    pub(crate) place: String,
    pub(crate) options: &'a Options,
    pub(crate) languages: &'a [Arc<Translations>],
    outlines: &'a Outlines,
    context: &'a EncodeContext,
}

pub(crate) struct NoticeText<'a> {
    pub(crate) language: &'a str,
    pub(crate) event: &'a str,
    pub(crate) headline: String,
    pub(crate) description: String,
    pub(crate) instruction: &'a str,
    /// The depth of the water; `None` if the flood is over.
    pub(crate) depth: Option<&'a str>,
}

impl<'a> Notice<'a> {
    pub(super) fn new(
        alert: AlertFeature<'a>,
        shared: &'a Shared,
        outlines: &'a Outlines,
        context: &'a EncodeContext,
    ) -> Self {
        let identifier = alert.identifier();
        let (sender, sender_name) = shared.cap.agency(alert.area);
        let address = format!("{}/alerts/{identifier}", context.base_url);
        Self {
            alert,
            document: format!("{address}.xml"),
            address,
            identifier,
            sender,
            sender_name,
            sent: xml::date_time(alert.message.sent, context.time_zone),
            expires: xml::date_time(alert.message.expires, context.time_zone),
            area: area_name(alert.area),
            place: display_name(alert.area),
            options: &shared.options,
            languages: &shared.languages,
            outlines,
            context,
        }
    }

    pub(crate) fn references(&self) -> Option<String> {
        let AlertFeature { area, message, issuer, .. } = self.alert;
        let references = message.references.iter().map(|reference| {
            let identifier = issuer.identifier(area.id, reference.key);
            format!("{},{identifier},{}", self.sender, xml::date_time(reference.sent, self.context.time_zone))
        });
        let references = references.collect::<Vec<_>>().join(" ");
        Some(references).filter(|references| !references.is_empty())
    }

    /// Returns the CAP `polygon`s: the outer rings of the area.
    pub(crate) fn polygons(&self) -> impl Iterator<Item = &'a str> + Clone {
        self.outlines.rings(self.alert.position)
    }

    pub(crate) fn georss(&self) -> impl Iterator<Item = Cow<'a, str>> {
        self.outlines.georss(self.alert.position)
    }

    pub(crate) fn web(&self) -> String {
        format!("{}/alerts/history?area={}&format=html", self.context.base_url, self.alert.area.id)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.alert.message.message_type == MessageType::Cancel
    }

    pub(crate) fn response(&self) -> &'static str {
        match self.alert.message.state {
            _ if self.is_over() => "AllClear",
            FloodState::Severe => "Evacuate",
            FloodState::Unknown | FloodState::Minor | FloodState::Moderate => "Avoid",
        }
    }

    pub(crate) fn urgency(&self) -> &'static str {
        if self.is_over() { "Past" } else { "Immediate" }
    }

    /// Returns the CAP `severity` of the message's state. When the flood is over, this is the state that has ended.
    pub(crate) fn severity(&self) -> &'static str {
        self.options.severity(self.alert.message.state)
    }

    pub(crate) fn date_time(&self, moment: Timestamp) -> String {
        xml::date_time(moment, self.context.time_zone)
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = NoticeText<'_>> {
        self.languages.iter().map(|texts| self.text_in(texts))
    }

    pub(crate) fn headline_and_summary(&self) -> (String, String) {
        self.texts().next().map(|text| (text.headline, text.description)).unwrap_or_default()
    }

    fn text_in<'s>(&'s self, texts: &'s Translations) -> NoticeText<'s> {
        let AlertFeature { message, status, .. } = self.alert;
        let (common, specific) = (texts.messages(), &texts.messages()[name(message)]);
        // The default is never used: a test checks that every country has all texts.
        let text = |group: &'s Value, key: &str| group[key].as_str().unwrap_or_default();
        let time = texts.format_time(text(common, "time"), message.last_confirmed, self.context.time_zone);
        let names = Names { area: &self.place, time: &time, agency: self.sender_name };
        let prefix = match status {
            Status::Actual => "",
            Status::Exercise => text(common, "exercise"),
            Status::Test => text(common, "test"),
        };
        NoticeText {
            language: text(common, "language"),
            event: text(common, "event"),
            headline: format!("{prefix}{}", substitute(text(specific, "headline"), names)),
            description: format!("{prefix}{}", substitute(text(specific, "description"), names)),
            instruction: text(specific, "instruction"),
            depth: specific["depth"].as_str(),
        }
    }
}

fn area_name(Area { id, name, parent_name, .. }: &Area) -> String {
    let parts = [name.as_str(), parent_name.as_str()].map(str::trim);
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    truncate(if text.is_empty() { id.to_string() } else { text })
}

fn display_name(Area { id, name, parent_name, .. }: &Area) -> String {
    truncate(place_name(parent_name.trim(), name.trim(), &id.to_string()))
}

/// Shortens a text of more than `AREA` characters to that length, including an ellipsis.
fn truncate(text: String) -> String {
    if text.chars().count() <= AREA {
        return text;
    }
    let start: String = text.chars().take(AREA - 1).collect();
    format!("{}…", start.trim_end())
}
