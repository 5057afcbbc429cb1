//! The flood map as an Atom feed of CAP alerts, one for each flooded area.
//!
//! Follows [CAP 1.2](http://docs.oasis-open.org/emergency/cap/v1.2/CAP-v1.2.html) and Atom
//! ([RFC 4287](https://www.rfc-editor.org/rfc/rfc4287)).

mod alert;
mod feed;
mod polygons;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use quick_xml::Writer;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;

use self::feed::Feed;
use self::polygons::Polygons;
pub(super) use self::polygons::pairs;
use super::memo::Memo;
use super::xml;
use super::{Container, EncodeContext, EncodeError, Format};
use crate::model::alerts::Status;
use crate::model::duration;
use crate::model::{Area, Layer, LayerKind};

/// Settings of the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// CAP `sender`, without whitespace and commas. **Default: `BPBD.JAKARTA.GOV.ID`**
    pub sender: Sender,
    /// CAP `senderName`, also used in descriptions. **Default: `JAKARTA EMERGENCY MANAGEMENT AGENCY`**
    pub sender_name: String,
    /// CAP `web` and the address of the feed's author. **Default: `https://petabencana.id/`**
    pub web: WebAddress,
    /// The name of the feed's author. **Default: `petabencana.id Flood Affected Areas`**
    pub author: String,
    /// The title of the feed. **Default: `petabencana.id Flood Affected Areas`**
    pub title: String,
    /// CAP `headline`. **Default: `FLOOD WARNING`**
    pub headline: String,
    /// CAP `status` of every alert: `Actual`, `Exercise` or `Test`. **Default: `Actual`**
    pub status: Status,
    /// How long after the request an alert expires: `1s` to `366d`. **Default: `6h`**
    #[serde(serialize_with = "duration::serialize", deserialize_with = "expiry")]
    pub expires_after: Duration,
    /// The agencies of cities that have their own, by city code. **Default: none**
    pub agencies: BTreeMap<String, Agency>,
}

/// The agency that observes the floods of a city.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agency {
    /// Like [`Options::sender`].
    pub sender: Sender,
    /// Like [`Options::sender_name`].
    pub sender_name: String,
}

impl Options {
    pub(super) fn agency(&self, area: &Area) -> (&str, &str) {
        match self.agencies.get(&area.city_code) {
            Some(agency) => (&agency.sender.0, &agency.sender_name),
            None => (&self.sender.0, &self.sender_name),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sender: Sender("BPBD.JAKARTA.GOV.ID".to_owned()),
            sender_name: "JAKARTA EMERGENCY MANAGEMENT AGENCY".to_owned(),
            web: WebAddress("https://petabencana.id/".to_owned()),
            author: "petabencana.id Flood Affected Areas".to_owned(),
            title: "petabencana.id Flood Affected Areas".to_owned(),
            headline: "FLOOD WARNING".to_owned(),
            status: Status::Actual,
            expires_after: Duration::from_hours(6),
            agencies: BTreeMap::new(),
        }
    }
}

/// A valid CAP `sender`: not empty, without whitespace, commas, `<` and `&` (CAP 1.2 §3.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Sender(String);

/// Reads a duration from 1 second to 366 days, so that CAP can express the time of expiry.
fn expiry<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let expiry = duration::deserialize(deserializer)?;
    let allowed = Duration::from_secs(1)..=Duration::from_hours(24 * 366);
    if allowed.contains(&expiry) { Ok(expiry) } else { Err(Error::custom("must be from 1s to 366d")) }
}

/// An absolute address (RFC 3986), as CAP and Atom require.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct WebAddress(pub(super) String);

/// A text is not a [`WebAddress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an address such as https://example.org/")]
pub struct InvalidWebAddress;

impl TryFrom<String> for WebAddress {
    type Error = InvalidWebAddress;

    fn try_from(text: String) -> Result<Self, InvalidWebAddress> {
        // `Url` also accepts characters that RFC 3986 forbids, and the text is written unchanged, so check each character.
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()*+,;=%".contains(&byte);
        let names_a_host = text.split_once("://").is_some_and(|(_, rest)| !rest.starts_with('/'));
        let reads = Url::parse(&text).is_ok_and(|url| url.has_host());
        let valid = text.bytes().all(allowed) && names_a_host && reads;
        if valid { Ok(Self(text)) } else { Err(InvalidWebAddress) }
    }
}

/// A text is not a [`Sender`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must not be empty or contain blanks, commas, < or &")]
pub struct InvalidSender;

impl TryFrom<String> for Sender {
    type Error = InvalidSender;

    fn try_from(text: String) -> Result<Self, InvalidSender> {
        let valid = !text.is_empty() && !text.contains(xml::forbidden_in_identifier);
        if valid { Ok(Self(text)) } else { Err(InvalidSender) }
    }
}

/// Writes flooded areas as alerts. Areas without a state have no entry.
///
/// Only `expires` and the feed's `updated` depend on the time of the request. CAP polygons have no holes, so only outer rings are
/// written. The text of the rings is built once per set of areas.
#[derive(Clone, Debug, Default)]
pub struct Cap {
    options: Options,
    polygons: Arc<Memo<Polygons>>,
    document: Document,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Document {
    #[default]
    Feed,
    Alert,
}

impl Cap {
    /// Creates the format.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    fn write(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> io::Result<()> {
        let Layer::Floods(floods) = layer else {
            return Err(io::Error::other("an alert is about a flooded area"));
        };
        let areas = floods.areas();
        let polygons =
            self.polygons.get_or_build(areas, || Ok::<_, io::Error>(Polygons::for_areas(areas)))?;
        let feed = Feed::new(&self.options, context, floods, &polygons);
        let mut xml = Writer::new(out);
        xml::declaration(&mut xml)?;
        match self.document {
            Document::Feed => feed.write(&mut xml),
            Document::Alert => {
                let mut alerts = feed.alerts();
                let (Some(alert), None) = (alerts.next(), alerts.next()) else {
                    return Err(io::Error::other("a document holds the alert about one flooded area"));
                };
                alert::write(&mut xml, &alert)
            }
        }
    }
}

impl Format for Cap {
    fn name(&self) -> &'static str {
        match self.document {
            Document::Feed => "cap",
            Document::Alert => "capalert",
        }
    }

    fn container(&self) -> Container {
        Container::XML
    }

    fn media_type(&self) -> &'static str {
        match self.document {
            Document::Feed => "application/atom+xml; charset=utf-8",
            Document::Alert => "application/cap+xml",
        }
    }

    fn supports(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Floods
    }

    fn entry_format(&self) -> Option<Arc<dyn Format>> {
        (self.document == Document::Feed)
            .then(|| Arc::new(Self { document: Document::Alert, ..self.clone() }) as _)
    }

    fn time_step(&self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }

    fn expires_after(&self) -> Option<Duration> {
        Some(self.options.expires_after)
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let result = self.write(layer, context, out);
        result.map_err(|error| EncodeError::new(self.name(), error))
    }
}
