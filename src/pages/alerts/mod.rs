//! The alerts page. For each alert, the text in the language of the page comes first.

mod area_map;

use std::cmp::Reverse;
use std::collections::BTreeMap;
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
use crate::model::{AlertLayer, AreaId, Layer, LayerKind, Timestamp, readable};
use crate::pages::larger_areas::{self, LargerArea, LargerAreaRow, larger_areas};
use crate::pages::layout::{Layout, PageContext, PageTemplate};

const PAGE: PageTemplate = PageTemplate::new("alerts.html", include_str!("page.html"));

const MAX_MAPS: usize = 10;

/// So few alerts are not folded.
const MAX_UNFOLDED: usize = 3;

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

    /// Renders the page. Groups current alerts by larger area, the deepest flood first; a history keeps its order.
    fn page(
        &self,
        layer: &AlertLayer,
        notices: &[Notice<'_>],
        context: &EncodeContext,
    ) -> io::Result<String> {
        let texts = self.languages.get(self.language).or(self.languages.first());
        let texts = texts.ok_or_else(|| io::Error::other("there is no language"))?;
        let groups = if layer.is_history() || notices.len() <= 1 {
            vec![(None, notices.iter().collect())]
        } else {
            by_larger_area(layer, notices, texts)
        };
        let (mut previous_area, mut drawn) = (None, 0);
        let groups = groups.into_iter().map(|(larger, notices)| {
            let alerts = notices.into_iter().map(|notice| {
                let area = Some(notice.alert.area.id);
                // Draws maps only for the first `MAX_MAPS` messages, and only one for adjacent messages about the same area.
                let is_drawn = drawn < MAX_MAPS && previous_area != area;
                (drawn, previous_area) = (drawn + 1, area);
                MessageView::new(notice, texts, context, is_drawn.then_some(layer))
            });
            Group { larger, alerts: alerts.collect() }
        });
        let groups: Vec<_> = groups.collect();
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
        let sentences = alert_sentences(notices.len(), layer.may_be_incomplete()).into_iter();
        let sentences: Vec<_> =
            sentences.map(|key| serde_json::json!({ "key": key, "text": key.text(texts, None) })).collect();
        let values = context! {
            t => Serde(texts.group("alerts")),
            sentences => Serde(sentences),
            is_one => notices.len() == 1,
            is_part => query.split('&').any(|part| part.starts_with("city=")),
            is_unfolded => notices.len() <= MAX_UNFOLDED,
            cities => Serde(if layer.is_history() { Vec::new() } else { cities(notices) }),
            all => format!("{}?{language}", local(&format!("{}/alerts", context.base_url))),
            groups => Serde(groups),
            next,
        };
        let page_context = PageContext { page: "alerts", path: &address, keep: &keep };
        self.layout.render(PAGE, texts, page_context, values).map_err(io::Error::other)
    }
}

/// The alerts about one larger area, or all alerts if they are not grouped.
#[derive(Debug, Serialize)]
struct Group {
    larger: Option<LargerAreaRow>,
    alerts: Vec<MessageView>,
}

/// Groups alerts by larger area: the deepest flood first, and larger areas whose floods have all ended last.
fn by_larger_area<'n, 'a>(
    layer: &AlertLayer,
    notices: &'n [Notice<'a>],
    texts: &Translations,
) -> Vec<(Option<LargerAreaRow>, Vec<&'n Notice<'a>>)> {
    let mut by_name: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for notice in notices {
        by_name.entry(larger_areas::key(notice.alert.area)).or_default().push(notice);
    }
    for notices in by_name.values_mut() {
        notices.sort_by_key(|notice| (Reverse(state(notice)), &notice.alert.area.name));
    }
    let flooded = notices.iter().filter(|notice| !notice.is_over());
    let flooded = flooded.map(|notice| (notice.alert.area.id, notice.alert.message.state));
    let flooded = larger_areas(layer.areas(), flooded);
    let mut groups = Vec::new();
    let is_named = |larger: &LargerArea<'_>| !(larger.parent.is_empty() && larger.city.is_empty());
    for larger in flooded.into_iter().filter(is_named) {
        let notices = by_name.remove(&(larger.city, larger.parent)).unwrap_or_default();
        groups.push((Some(larger.row(texts)), notices));
    }
    // What is left has ended, has no larger area, or has no area on the map.
    groups.push((None, by_name.into_values().flatten().collect()));
    groups
}

/// Returns the code, the name and the number of alerts of each city, if there are several.
fn cities(notices: &[Notice<'_>]) -> Vec<(String, String, usize)> {
    let mut cities: BTreeMap<_, usize> = BTreeMap::new();
    for notice in notices {
        *cities.entry((&notice.alert.area.city_name, &notice.alert.area.city_code)).or_default() += 1;
    }
    cities.retain(|(_, code), _| !code.is_empty());
    let rows = cities.into_iter().map(|((name, code), count)| (code.clone(), readable(name), count));
    Some(rows.collect::<Vec<_>>()).filter(|rows| rows.len() > 1).unwrap_or_default()
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
