use chrono_tz::Tz;
use serde::Serialize;
use serde_json::Value;

use super::flood_list::DisplayTime;
use crate::data::country::Translations;
use crate::data::statements::{AreaSituation, Sentence, Situation, title};
use crate::model::{Area, AreaId, FloodState, Timestamp, readable};
use crate::pages::flood_reports::FloodReport;

#[derive(Clone, Copy)]
pub(super) struct TextContext<'a> {
    pub(super) texts: &'a Translations,
    pub(super) zone: Tz,
}

#[derive(Debug, Serialize)]
pub(super) struct SelectedArea {
    id: AreaId,
    name: String,
    city: String,
    title: String,
    sentences: Vec<SentenceView>,
}

#[derive(Debug, Serialize)]
struct SentenceView {
    key: Sentence,
    class: &'static str,
    text: String,
    at: Option<DisplayTime>,
    /// The code of a state. The page shows its colour before the sentence.
    state: Option<u8>,
}

impl SelectedArea {
    pub(super) fn new(
        area: &Area,
        situation: &Situation,
        about: &AreaSituation,
        reported: &[FloodReport],
        context: TextContext<'_>,
    ) -> Self {
        let TextContext { texts, zone } = context;
        let sentences = situation.area(about);
        let state = about.flood.map(|flood| flood.state);
        let views = sentences.iter().enumerate().map(|(index, key)| {
            let text = key.text(texts, state);
            let at = match key {
                Sentence::Since => about.flood.map(|flood| flood.flooded_since),
                Sentence::Confirmed => about.flood.map(|flood| flood.confirmed),
                Sentence::Over => about.over_since,
                Sentence::Stale => situation.floods.stale_since(),
                _ => None,
            };
            let text = match key {
                Sentence::Unconfirmed => {
                    let confirmed = about.flood.map(|flood| DisplayTime::new(flood.confirmed, zone).text);
                    text.replace("{age}", &confirmed.unwrap_or_default())
                }
                Sentence::OneReport | Sentence::Reports => fill_reports(text, reported, context),
                _ => text.to_owned(),
            };
            let class = match key {
                _ if index == 0 => "state",
                Sentence::Advice => "advice",
                Sentence::Unconfirmed | Sentence::Stale | Sentence::OneReport | Sentence::Reports => "notice",
                Sentence::Unwatched | Sentence::ReportsUnknown => "place",
                _ => "",
            };
            let state = state.filter(|_| *key == Sentence::Depth).map(FloodState::code);
            SentenceView { key: *key, class, text, at: at.map(|at| DisplayTime::new(at, zone)), state }
        });
        let title_text = title(&sentences).map(|key| key.text(texts, state)).unwrap_or_default();
        Self {
            id: area.id,
            name: area.display_name(),
            city: readable(&area.city_name),
            title: title_text.replace("{count}", &reported.len().to_string()),
            sentences: views.collect(),
        }
    }

    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.name, self.title)
    }
}

fn fill_reports(
    text: &str,
    reported: &[FloodReport],
    TextContext { texts, zone }: TextContext<'_>,
) -> String {
    let span = |mut parts: Vec<String>| {
        parts.dedup();
        match &*parts {
            [first, .., last] => format!("{first}–{last}"),
            [one] => one.clone(),
            [] => String::new(),
        }
    };
    let mut depths: Vec<_> = reported.iter().filter_map(|report| report.depth).map(f64::round).collect();
    depths.sort_by(f64::total_cmp);
    let depths = span(depths.iter().map(f64::to_string).collect());
    let unit = texts.group("map")["script"]["depth"]["cm"].as_str().unwrap_or_default();
    let depths = (!depths.is_empty()).then(|| format!("{depths} {unit}"));
    let clock = |at: Timestamp| at.to_utc().with_timezone(&zone).format("%H:%M").to_string();
    let times = span(reported.iter().map(|report| clock(report.at)).collect());
    let details: Vec<_> = depths.into_iter().chain([times]).collect();
    text.replace("{count}", &reported.len().to_string()).replace("{what}", &details.join(", "))
}

pub(super) fn reports_json(reported: &[FloodReport]) -> Value {
    reported.iter().map(|report| serde_json::json!({ "at": report.at, "depth": report.depth })).collect()
}
