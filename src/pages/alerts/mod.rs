//! The page of alerts for people, one language first.

mod picture;

use std::cmp::Reverse;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use self::picture::Picture;
use crate::data::country::{Country, Translations};
use crate::data::statements::alerts as says;
use crate::formats::alerts::{Notice, NoticeText, Notices, writing};
use crate::formats::{Container, EncodeContext, EncodeError, Format};
use crate::model::{AlertLayer, AreaId, Layer, LayerKind, Timestamp};
use crate::pages::layout::{Layout, PageContext, PageTemplate};

const PAGE: PageTemplate = PageTemplate::new("alerts.html", include_str!("page.html"));

/// How many alerts of a page have a map.
const MOST_PICTURES: usize = 10;

/// Writes messages as a page for people, in one language first.
#[derive(Clone, Debug)]
pub struct Page {
    notices: Notices,
    shell: Arc<Layout>,
    /// The languages of the country.
    languages: Arc<[Arc<Translations>]>,
    /// Which of them comes first.
    language: usize,
}

impl Page {
    /// Returns the format for the country that is part of the program.
    #[must_use]
    pub fn new(notices: Notices) -> Self {
        Self::within(notices, Layout::default(), &Country::built_in())
    }

    /// Returns the format for the pages of an installation.
    pub(crate) fn within(notices: Notices, shell: Layout, country: &Country) -> Self {
        Self { notices, shell: Arc::new(shell), languages: country.languages().into(), language: 0 }
    }

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
            // The worst first, and what is over last. The order of time stays among equals.
            sorted.sort_by_key(|notice| Reverse(state(notice)));
        }
        let mut before = None;
        let shown = sorted.into_iter().enumerate().map(|(index, notice)| {
            let area = Some(notice.alert.area.id);
            // One map for each area, and not too many.
            let is_drawn = index < MOST_PICTURES && before != area;
            before = area;
            MessageView::new(notice, texts, context, is_drawn.then_some(layer))
        });
        let shown: Vec<_> = shown.collect();
        let language = format!("format=html&lang={}", texts.code());
        // One message has no path of its own.
        let path = match (&*layer.path(), notices) {
            ("", [notice]) => notice.address.clone(),
            ("", _) => format!("{}/alerts", context.base_url),
            (path, _) => format!("{}/{path}", context.base_url),
        };
        // Addresses of pages have no host, so that they work by any name of the server.
        let local = |address: &str| match address.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]).to_owned(),
            None => address.to_owned(),
        };
        let (here, query) = path.split_once('?').unwrap_or((&path, ""));
        let here = local(here);
        let kept: Vec<_> = query.split('&').filter_map(|part| part.split_once('=')).collect();
        let keep = [&kept[..], &[("format", "html")]].concat();
        let next = layer.next_path().map(|path| format!("{}/{path}&{language}", context.base_url));
        let said = says(shown.len(), layer.is_doubtful()).into_iter();
        let said: Vec<_> =
            said.map(|key| serde_json::json!({ "key": key, "text": key.text(texts, None) })).collect();
        let values = context! {
            t => Serde(texts.group("alerts")),
            says => Serde(said),
            is_one => shown.len() == 1,
            all => format!("{}?{language}", local(&format!("{}/alerts", context.base_url))),
            alerts => Serde(shown),
            next,
        };
        let here = PageContext { page: "alerts", path: &here, keep: &keep };
        self.shell.render(PAGE, texts, here, values).map_err(io::Error::other)
    }
}

/// A message as the page shows it.
#[derive(Clone, Debug, Serialize)]
struct MessageView {
    address: String,
    status: &'static str,
    message_type: &'static str,
    /// 0 if the flood is over.
    state: u8,
    area: String,
    /// `None` for the area of the exercise, which is on no map.
    area_id: Option<String>,
    sender_name: String,
    sent: String,
    sent_words: String,
    expires: String,
    expires_words: String,
    picture: Option<Picture>,
    /// The texts in the language of the page, or else in the first of the alerts.
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
    fn new(
        notice: &Notice<'_>,
        texts: &Translations,
        context: &EncodeContext,
        drawn: Option<&AlertLayer>,
    ) -> Self {
        let text = |said: NoticeText<'_>| MessageText {
            language: said.language.to_owned(),
            headline: said.headline,
            description: said.description,
            instruction: said.instruction.to_owned(),
        };
        let mut others: Vec<_> = notice.texts().map(text).collect();
        let is_main = |text: &MessageText| text.language.split('-').next() == Some(texts.code());
        let main = others.iter().position(is_main).unwrap_or_default();
        let main = (main < others.len()).then(|| others.remove(main));
        let words = |at: Timestamp| texts.moment(at, context.time_zone);
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
            sent_words: words(message.sent),
            expires: notice.expires.clone(),
            expires_words: words(message.expires),
            picture: drawn.and_then(|layer| Picture::draw(notice, layer.areas())),
            main,
            others,
        }
    }
}

/// Returns the code of the state; 0 if the flood is over.
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

    fn carries(&self, kind: LayerKind) -> bool {
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
