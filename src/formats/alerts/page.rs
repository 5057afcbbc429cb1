use std::io;
use std::time::Duration;

use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use super::notice::Notice;
use super::{Notices, writing};
use crate::formats::{Container, EncodeContext, EncodeError, Format, html};
use crate::model::{Layer, LayerKind};

const PAGE: &str = include_str!("page.html");

/// Writes messages as a page for people.
#[derive(Clone, Debug)]
pub struct Page(Notices);

impl Page {
    /// Returns the format.
    #[must_use]
    pub fn new(notices: Notices) -> Self {
        Self(notices)
    }
}

/// A message as the page shows it.
#[derive(Clone, Debug, Serialize)]
struct Shown {
    address: String,
    status: &'static str,
    message_type: &'static str,
    state: u8,
    area: String,
    sender_name: String,
    sent: String,
    expires: String,
    texts: Vec<ShownText>,
}

#[derive(Clone, Debug, Serialize)]
struct ShownText {
    language: String,
    headline: String,
    description: String,
    instruction: String,
}

impl Shown {
    fn of(notice: &Notice<'_>) -> Self {
        let texts = notice.said().map(|said| ShownText {
            language: said.language.to_owned(),
            headline: said.headline,
            description: said.description,
            instruction: said.instruction.to_owned(),
        });
        Self {
            address: notice.address.clone(),
            status: notice.alert.status.name(),
            message_type: notice.alert.message.message_type.name(),
            state: if notice.is_over() { 0 } else { notice.alert.message.state.code() },
            area: notice.area.clone(),
            sender_name: notice.sender_name.to_owned(),
            sent: notice.sent.clone(),
            expires: notice.expires.clone(),
            texts: texts.collect(),
        }
    }
}

impl Format for Page {
    fn name(&self) -> &'static str {
        "html"
    }

    fn container(&self) -> Container {
        Container("html")
    }

    fn media_type(&self) -> &'static str {
        "text/html; charset=utf-8"
    }

    fn carries(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Alerts
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let written = self.0.write(layer, context, |layer, notices| {
            let shown: Vec<_> = notices.iter().map(Shown::of).collect();
            let next = layer.next_path().map(|path| format!("{}/{path}&format=html", context.base_url));
            let cap = self.0.cap();
            let values = context! { title => cap.title.as_str(), alerts => Serde(shown), next };
            out.extend_from_slice(html::render(PAGE, values).map_err(io::Error::other)?.as_bytes());
            Ok(())
        });
        writing(self, written)
    }
}
