use chrono_tz::Tz;
use serde::Serialize;
use serde_json::Value;

use super::list::{DisplayTime, area_name};
use crate::data::country::Translations;
use crate::data::statements::{AreaSituation, Sentence, Situation, title};
use crate::model::{Area, FloodState, Timestamp, readable};
use crate::pages::reported::Reported;

/// What a page is written with.
#[derive(Clone, Copy)]
pub(super) struct Writing<'a> {
    pub(super) texts: &'a Translations,
    pub(super) zone: Tz,
}

/// The area of the address, and what the page says about it.
#[derive(Debug, Serialize)]
pub(super) struct SelectedArea {
    name: String,
    city: String,
    /// What the title says, after the name.
    title: String,
    says: Vec<SentenceView>,
}

/// A sentence of the page.
#[derive(Debug, Serialize)]
struct SentenceView {
    key: Sentence,
    class: &'static str,
    text: String,
    /// The time that the sentence ends with.
    at: Option<DisplayTime>,
    /// The code of the state whose colour stands before the sentence.
    state: Option<u8>,
}

impl SelectedArea {
    pub(super) fn new(
        area: &Area,
        situation: &Situation,
        about: &AreaSituation,
        reported: &[Reported],
        writing: Writing<'_>,
    ) -> Self {
        let Writing { texts, zone } = writing;
        let says = situation.area(about);
        let state = about.flood.map(|flood| flood.state);
        let said = says.iter().enumerate().map(|(index, key)| {
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
                Sentence::OneReport | Sentence::Reports => filled(text, reported, writing),
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
        let titled = title(&says).map(|key| key.text(texts, state)).unwrap_or_default();
        Self {
            name: area_name(area),
            city: readable(&area.city_name),
            title: titled.replace("{count}", &reported.len().to_string()),
            says: said.collect(),
        }
    }

    /// Returns the name with what may be said in short.
    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.name, self.title)
    }
}

/// Fills in how many residents have reported a flood, how deep, and when.
fn filled(text: &str, reported: &[Reported], Writing { texts, zone }: Writing<'_>) -> String {
    let span = |mut parts: Vec<String>| {
        parts.dedup();
        match &*parts {
            [first, .., last] => format!("{first}–{last}"),
            [one] => one.clone(),
            [] => String::new(),
        }
    };
    let mut depths: Vec<_> = reported.iter().filter_map(|of| of.depth).map(f64::round).collect();
    depths.sort_by(f64::total_cmp);
    let depths = span(depths.iter().map(f64::to_string).collect());
    let unit = texts.group("map")["script"]["depth"]["cm"].as_str().unwrap_or_default();
    let depths = (!depths.is_empty()).then(|| format!("{depths} {unit}"));
    let clock = |at: Timestamp| at.to_utc().with_timezone(&zone).format("%H:%M").to_string();
    let times = span(reported.iter().map(|of| clock(of.at)).collect());
    let what: Vec<_> = depths.into_iter().chain([times]).collect();
    text.replace("{count}", &reported.len().to_string()).replace("{what}", &what.join(", "))
}

/// Returns the reports as the script of the page reads them.
pub(super) fn for_script(reported: &[Reported]) -> Value {
    reported.iter().map(|of| serde_json::json!({ "at": of.at, "depth": of.depth })).collect()
}
