//! The alerts page. For each alert, the text in the language of the page comes first.

mod area_map;

use std::cmp::Reverse;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use self::area_map::AreaMap;
use crate::data::country::{Country, Translations};
use crate::data::statements::alerts as alert_sentences;
use crate::formats::alerts::{Notice, NoticeText, Notices, writing};
use crate::formats::{Container, EncodeContext, EncodeError, Format};
use crate::model::{AlertLayer, AreaId, Layer, LayerKind, Timestamp};
use crate::pages::layout::{Layout, PageContext, PageTemplate};

const PAGE: PageTemplate = PageTemplate::new("alerts.html", include_str!("page.html"));

const MAX_MAPS: usize = 10;

/// Encodes alerts as a page. For each alert, the text in the language of the page comes first.
#[derive(Clone, Debug)]
pub struct Page {
    notices: Notices,
    layout: Arc<Layout>,
    languages: Arc<[Arc<Translations>]>,
    language: usize,
}

impl Page {
    /// Returns the format for the built-in country.
    #[must_use]
    pub fn new(notices: Notices) -> Self {
        Self::for_country(notices, Layout::default(), &Country::built_in())
    }

    pub(crate) fn for_country(notices: Notices, layout: Layout, country: &Country) -> Self {
        Self { notices, layout: Arc::new(layout), languages: country.languages().into(), language: 0 }
    }

    /// Renders the page. Lists current alerts by state, the deepest flood first; a history keeps its order.
    fn page(
        &self,
        layer: &AlertLayer,
        notices: &[Notice<'_>],
        context: &EncodeContext,
    ) -> io::Result<String> {
        let texts = self.languages.get(self.language).or(self.languages.first());
        let texts = texts.ok_or_else(|| io::Error::other("there is no language"))?;
        let mut sorted: Vec<_> = notices.iter().collect();
        if !layer.is_history() {
            // The deepest flood first, ended floods last. The sort is stable, so alerts with the same state keep their order.
            sorted.sort_by_key(|notice| Reverse(state(notice)));
        }
        let mut previous_area = None;
        let messages = sorted.into_iter().enumerate().map(|(index, notice)| {
            let area = Some(notice.alert.area.id);
            // Draws maps only for the first `MAX_MAPS` messages, and only one for adjacent messages about the same area.
            let is_drawn = index < MAX_MAPS && previous_area != area;
            previous_area = area;
            MessageView::new(notice, texts, context, is_drawn.then_some(layer))
        });
        let messages: Vec<_> = messages.collect();
        let language = format!("format=html&lang={}", texts.code());
        // The layer of a single message has no path, so the page uses the address of the message.
        let path = match (&*layer.path(), notices) {
            ("", [notice]) => notice.address.clone(),
            ("", _) => format!("{}/alerts", context.base_url),
            (path, _) => format!("{}/{path}", context.base_url),
        };
        // Page addresses have no host: the server may have several names.
        let local = |address: &str| match address.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]).to_owned(),
            None => address.to_owned(),
        };
        let (address, query) = path.split_once('?').unwrap_or((&path, ""));
        let address = local(address);
        let parameters: Vec<_> = query.split('&').filter_map(|part| part.split_once('=')).collect();
        let keep = [&parameters[..], &[("format", "html")]].concat();
        let next = layer.next_path().map(|path| format!("{}/{path}&{language}", context.base_url));
        let sentences = alert_sentences(messages.len(), layer.may_be_incomplete()).into_iter();
        let sentences: Vec<_> =
            sentences.map(|key| serde_json::json!({ "key": key, "text": key.text(texts, None) })).collect();
        let values = context! {
            t => Serde(texts.group("alerts")),
            sentences => Serde(sentences),
            is_one => messages.len() == 1,
            all => format!("{}?{language}", local(&format!("{}/alerts", context.base_url))),
            alerts => Serde(messages),
            next,
        };
        let page_context = PageContext { page: "alerts", path: &address, keep: &keep };
        self.layout.render(PAGE, texts, page_context, values).map_err(io::Error::other)
    }
}

#[derive(Clone, Debug, Serialize)]
struct MessageView {
    address: String,
    status: &'static str,
    message_type: &'static str,
    state: u8,
    area: String,
    /// `None` for the area of the exercise, which is not on the map.
    area_id: Option<String>,
    sender_name: String,
    sent: String,
    sent_words: String,
    expires: String,
    expires_words: String,
    map: Option<AreaMap>,
    /// The texts in the language of the page, or in the first language of the alert.
    main: Option<MessageText>,
    others: Vec<MessageText>,
}

#[derive(Clone, Debug, Serialize)]
struct MessageText {
    language: String,
    headline: String,
    description: String,
    instruction: String,
}

impl MessageView {
    /// The main text is the text in the language of the page, or else the first text. Draws a map if a layer is given.
    fn new(
        notice: &Notice<'_>,
        texts: &Translations,
        context: &EncodeContext,
        drawn: Option<&AlertLayer>,
    ) -> Self {
        let text = |text: NoticeText<'_>| MessageText {
            language: text.language.to_owned(),
            headline: text.headline,
            description: text.description,
            instruction: text.instruction.to_owned(),
        };
        let mut others: Vec<_> = notice.texts().map(text).collect();
        let is_main = |text: &MessageText| text.language.split('-').next() == Some(texts.code());
        let main = others.iter().position(is_main).unwrap_or_default();
        let main = (main < others.len()).then(|| others.remove(main));
        let format_time = |at: Timestamp| texts.moment(at, context.time_zone);
        let (area, message) = (notice.alert.area, notice.alert.message);
        Self {
            address: notice.address.clone(),
            status: notice.alert.status.name(),
            message_type: message.message_type.name(),
            state: state(notice),
            area: notice.place.clone(),
            area_id: (area.id != AreaId::EXERCISE).then(|| area.id.to_string()),
            sender_name: notice.sender_name.to_owned(),
            sent: notice.sent.clone(),
            sent_words: format_time(message.sent),
            expires: notice.expires.clone(),
            expires_words: format_time(message.expires),
            map: drawn.and_then(|layer| AreaMap::draw(notice, layer.areas())),
            main,
            others,
        }
    }
}

/// Returns the code of the state; 0 if the flood has ended.
fn state(notice: &Notice<'_>) -> u8 {
    if notice.is_over() { 0 } else { notice.alert.message.state.code() }
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

    fn version(&self) -> u64 {
        self.language as u64
    }

    fn supports(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Alerts
    }

    fn in_language(&self, code: &str) -> Option<Arc<dyn Format>> {
        let language = self.languages.iter().position(|texts| texts.code() == code)?;
        Some(Arc::new(Self { language, ..self.clone() }))
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let written = self.notices.write(layer, context, |layer, notices| {
            out.extend_from_slice(self.page(layer, notices, context)?.as_bytes());
            Ok(())
        });
        writing(self, written)
    }
}
