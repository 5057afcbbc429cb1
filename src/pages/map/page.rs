use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use geo::Rect;
use minijinja::value::Serde;
use serde_json::{Map, Value, json};

use super::flood_list::{DisplayTime, FloodList, FloodedArea, MAX_ROWS};
use super::selected_area::{SelectedArea, TextContext, reports_json};
use crate::changes::{Cursor, State};
use crate::config::Config;
use crate::data::country::Translations;
use crate::data::statements::{AreaSituation, FloodData, OVER_FOR, SHOWN_FOR, Sentence, Situation};
use crate::guards::Language;
use crate::http::error::Problem;
use crate::model::alerts::CONFIRMED_FOR;
use crate::model::{Area, AreaId, AreaSelector, AreaSet, FloodState, LayerKind, Timestamp, readable};
use crate::pages::flood_reports::FloodReport;
use crate::pages::layout::{Layout, PageContext, PageTemplate};
use crate::pages::{ended_floods, uncertainty};
use crate::rendering::{ApiResponse, HTML, ResponseCache, precompress};
use crate::sources::{SourceReport, watch};
use crate::stores::Revision;

/// So few areas are drawn at once: a map of districts, not of neighbourhoods.
const FEW_AREAS: usize = 60;
const PAGE: PageTemplate = PageTemplate::new("map.html", include_str!("page.html"));
/// The interval in milliseconds at which a page checks how current its data is.
const CHECK_INTERVAL: u32 = 60_000;

/// Returns the lowest zoom at which the map draws each area, not only larger ones.
fn lowest_zoom_of_areas(areas: &AreaSet) -> u8 {
    if areas.len() <= FEW_AREAS { 7 } else { 14 }
}

#[derive(Debug)]
pub(super) struct MapData {
    pub(super) version: Version,
    floods: FloodData,
    /// `None` if the floods were never read.
    pub(super) list: Option<FloodList>,
    /// The cursor from which the page follows changes; `None` if the states are stale.
    pub(super) cursor: Option<Cursor>,
    pub(super) areas: Arc<AreaSet>,
    ended: BTreeMap<AreaId, Timestamp>,
    /// When a state was last set, cleared or confirmed.
    pub(super) last_changed: Option<Timestamp>,
    basemap_version: Option<String>,
}

/// The version of the data of a page: epoch, revisions of floods and places, and whether it is current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(Option<(u64, [Revision; 2])>, FloodData);

impl Version {
    pub(super) fn new(state: Option<&State>, floods: FloodData) -> Self {
        let cursor = state.map(State::cursor);
        Self(cursor.map(|cursor| (cursor.epoch, [cursor.floods, cursor.places])), floods)
    }
}

impl MapData {
    /// Collects the data of a page. Costs O(areas).
    pub(super) fn new(
        state: Option<&State>,
        (floods, areas): (FloodData, Arc<AreaSet>),
        selector: &AreaSelector,
        zone: Tz,
        basemap_version: Option<String>,
    ) -> Self {
        let ended = ended_floods(state).filter(|(area, _)| selector.matches(area));
        Self {
            version: Version::new(state, floods),
            floods,
            list: state.map(|state| FloodList::new(state, selector, zone)),
            // Stale states get no cursor: they may be older than the states that the client has from another server.
            cursor: state.filter(|_| floods == FloodData::Now).map(State::cursor),
            areas,
            last_changed: state.and_then(State::last_changed),
            ended: ended.map(|(area, at)| (area.id, at)).collect(),
            // The version is empty if there is no base map.
            basemap_version: basemap_version.filter(|version| !version.is_empty()),
        }
    }

    pub(super) fn area(&self, id: &str) -> Option<&Area> {
        self.areas.find(id.parse().ok()?)
    }

    pub(super) fn is_current(&self) -> bool {
        self.floods == FloodData::Now
    }

    pub(super) fn flooded(&self, area: &Area) -> Option<&FloodedArea> {
        self.list.as_ref()?.find(self.areas.position(area.id)?)
    }

    /// Returns when the state of an area was last set or cleared.
    pub(super) fn changed(&self, area: &Area) -> Option<Timestamp> {
        let flooded = self.flooded(area);
        flooded.map(|row| row.last_updated).or_else(|| self.ended.get(&area.id).copied())
    }
}

pub(super) struct Page<'a> {
    pub(super) data: &'a MapData,
    pub(super) language: &'a Language,
    pub(super) selector: &'a AreaSelector,
    /// Whether the base map tells land from sea.
    pub(super) has_land: bool,
    /// The parameter `area` of the address. There may be no such area.
    pub(super) area: Option<&'a str>,
    /// The parameter `city` of the address, if the service has no areas in this city.
    pub(super) unknown_city: Option<&'a str>,
    pub(super) lists_all: bool,
    /// The recent reports from the selected area; `None` if they cannot be read.
    pub(super) reports: Option<Vec<FloodReport>>,
    pub(super) sources: &'a [SourceReport],
    /// The style sheets, inlined to save a request on a slow connection.
    pub(super) styles: &'a str,
    /// Whether people can subscribe to messages.
    pub(super) has_push: bool,
}

impl Page<'_> {
    /// Returns whether many visitors see the same page, so that it is worth caching.
    pub(super) fn is_cacheable(&self) -> bool {
        self.area.is_none() && self.unknown_city.is_none() && !self.lists_all
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.unknown_city.is_some() || self.is_unknown_area()
    }

    fn is_unknown_area(&self) -> bool {
        !self.data.areas.is_empty() && self.area.is_some_and(|id| self.data.area(id).is_none())
    }

    /// Renders the page. A page with reports is not cacheable, because a hidden report must disappear at once.
    pub(super) async fn render(
        &self,
        cache: &ResponseCache,
        layout: &Layout,
        config: &Config,
    ) -> Result<ApiResponse, Problem> {
        let page = self.html(cache, layout, config)?;
        if self.reports.as_ref().is_some_and(|reported| !reported.is_empty()) {
            return ApiResponse::private_page(page).compressed().await;
        }
        Ok(ApiResponse::shared(&precompress(HTML, page.into_bytes()).await?))
    }

    pub(super) fn with_staleness(&self, page: ApiResponse, now: Timestamp) -> ApiResponse {
        match self.data.floods.stale_since() {
            Some(since) => page.stale_since(since, now.saturating_duration_since(since)),
            None => page,
        }
    }

    /// Returns the name of the chosen city; without a choice, that of the first area.
    pub(super) fn city_name(&self) -> Option<&str> {
        let area = self.data.areas.iter().find(|area| self.selector.matches(area));
        area.map(|area| area.city_name.as_str())
    }

    fn situation(&self, now: Timestamp) -> Situation {
        let MapData { list, floods, areas, ended, .. } = self.data;
        Situation {
            now,
            floods: *floods,
            watch: watch(self.sources).0,
            // While areas cannot be read, assumes that there are some.
            has_areas: !(self.data.is_current() && areas.is_empty()),
            is_part: !self.selector.is_everything(),
            flooded: list.as_ref().map_or(0, FloodList::total),
            newest: list.as_ref().and_then(FloodList::newest).max(ended.values().max().copied()),
        }
    }

    pub(super) fn html(
        &self,
        cache: &ResponseCache,
        layout: &Layout,
        config: &Config,
    ) -> Result<String, Problem> {
        let Self { data, language, selector, sources, .. } = *self;
        let MapData { list, cursor, areas, basemap_version, .. } = data;
        let (now, zone, texts) = (cache.now(), config.time_zone, language.translations());
        let text_context = TextContext { texts, zone };
        let situation = self.situation(now);
        let sentences = situation.page();
        let is_read = ![Sentence::Away, Sentence::Old].iter().any(|key| sentences.contains(key));
        let no_floods = FloodList::default();
        let list = list.as_ref().filter(|_| is_read).unwrap_or(&no_floods);
        let (t, depths) = (texts.group("map"), texts.group("depths"));
        let optional_text = |key: Sentence| sentences.contains(&key).then(|| key.text(texts, None));
        let stale = situation.floods.stale_since();
        let newest = situation.newest.filter(|_| sentences.contains(&Sentence::Newest));
        let base = config.base_url.path().trim_end_matches('/');
        let bounds = areas.around(selector).map(corners);
        let (watched, silent) = watch(sources);
        let mut settings = json!({
            "base": base,
            "language": language.code(),
            "timeZone": zone.name(),
            "zone": now.to_utc().with_timezone(&zone).format("%Z").to_string(),
            "texts": t["script"],
            "says": Sentence::for_script(texts),
            "depths": depths,
            "city": selector.city,
            "cityName": self.city_name(),
            "cursor": cursor.map(|cursor| cursor.to_string()),
            "tiles": config.map.tiles,
            "ground": basemap_version,
            "hasLand": self.has_land,
            "attribution": config.map.basemap.attribution,
            "photos": config.photos_url(),
            "known": situation.floods != FloodData::Unread,
            "stale": stale,
            "watch": watched.name(),
            "silent": silent.map(|source| json!({ "name": source.name, "last_heard": source.last_heard })),
            "hasAreas": situation.has_areas,
            "areasFrom": lowest_zoom_of_areas(areas),
            "newest": situation.newest,
            "tell": self.has_push.then(|| texts.text("push", "tell")),
            "over": self.recently_ended(now),
            "reported": self.reports.as_ref().map(|reported| json!({ "area": self.area, "reports": reports_json(reported) })),
            "check": CHECK_INTERVAL,
            "names": "/map/names",
            "box": bounds,
            "confirmedFor": millis(CONFIRMED_FOR),
            "overFor": millis(OVER_FOR),
            "shownFor": millis(SHOWN_FOR),
            "reportsFor": millis(config.attention.suggesting_within),
        });
        let states = FloodState::ALL.map(|state| {
            let code = state.code().to_string();
            json!({ "count": list.count(state), "advice": t["script"]["advice"][&code], "code": code })
        });
        let can_select = !config.areas.selectable(LayerKind::Floods).city.is_empty();
        let offered = areas.city_names().iter().filter(|_| can_select);
        let more = list.hidden_count(self.lists_all);
        let more = t["script"]["more"]
            .as_str()
            .filter(|_| more > 0)
            .map(|text| text.replace("{count}", &more.to_string()));
        let chosen = self.selected_area(&situation, text_context);
        let (title, shared_title) = self.titles(chosen.as_ref(), &situation, text_context);
        settings["title"] = title.clone().into();
        settings["says"]["title"] = t["title"].clone();
        let values = minijinja::context! {
            language => language.code(),
            title => title,
            shared_title => shared_title,
            picture => self.picture_address(&situation, config),
            t => Serde(t),
            depths => Serde(depths),
            settings => settings.to_string(),
            styles => self.styles,
            floods => format!("{base}/floods?{}", self.query("minimum_state", "1")),
            total => list.total(),
            counted => optional_text(Sentence::Flooded),
            empty => sentences.first().filter(|key| **key != Sentence::Flooded).map(|key| json!({ "key": key, "text": key.text(texts, None) })).map(Serde),
            newest => newest.map(|at| Serde(DisplayTime::new(at, zone))),
            never => optional_text(Sentence::Never),
            groups => Serde(list.groups(self.lists_all, now)),
            more => more,
            selected => format!("{}&", self.query("lang", language.code())),
            states => Serde(states),
            sources => Serde(source_rows(sources, zone)),
            watch => uncertainty(&sentences, silent, texts, |at| DisplayTime::new(at, zone).text)
                .map(|(key, text)| Serde(json!({ "key": key, "text": text }))),
            missing => self.unknown_text(texts).map(Serde),
            chosen => chosen.map(Serde),
            over => Serde(self.ended_rows(&situation, zone)),
            stale => stale.map(|since| Serde(DisplayTime::new(since, zone))),
            cities => Serde(offered.map(|(code, name)| json!({ "code": code, "name": name })).collect::<Vec<_>>()),
            city => selector.city.clone(),
            alerts => format!("{base}/alerts"),
            report => config.cards.open, notifications => self.has_push.then(|| texts.text("push", "mine")),
        };
        let keep = [("area", self.area), ("city", selector.city.as_deref())];
        let keep: Vec<_> = keep.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let context = PageContext { page: "map", path: "/map", keep: &keep };
        layout.render(PAGE, texts, context, values).map_err(Problem::internal)
    }

    fn query(&self, name: &str, value: &str) -> String {
        let city = self.selector.city.as_ref().map(|city| ("city", city));
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(city).append_pair(name, value).finish()
    }

    /// Returns when floods have ended recently, by area.
    fn recently_ended(&self, now: Timestamp) -> Map<String, Value> {
        let is_recent = |at: Timestamp| now.saturating_duration_since(at) < OVER_FOR;
        let ended = self.data.ended.iter().filter(|(_, at)| is_recent(**at));
        ended.map(|(id, at)| (id.to_string(), json!(at))).collect()
    }

    /// Returns the rows of areas whose flood has ended recently, latest first.
    fn ended_rows(&self, situation: &Situation, zone: Tz) -> Vec<Value> {
        let ended_area = |over_since| AreaSituation { flood: None, over_since, reports: Some(0) };
        let has_ended = |at| situation.area(&ended_area(Some(at))).contains(&Sentence::Over);
        let mut ended: Vec<_> = self.data.ended.iter().filter(|(_, at)| has_ended(**at)).collect();
        ended.sort_by_key(|(_, at)| Reverse(**at));
        let rows = ended.into_iter().take(MAX_ROWS).filter_map(|(id, at)| {
            let area = self.data.areas.find(*id)?;
            Some(json!({ "id": id, "name": area.display_name(), "city": readable(&area.city_name), "since": DisplayTime::new(*at, zone) }))
        });
        rows.collect()
    }

    fn unknown_text(&self, texts: &Translations) -> Option<Value> {
        let (key, city) = match (self.unknown_city, self.is_unknown_area()) {
            (Some(city), _) => (Sentence::NotCoveredCity, city),
            (None, true) => (Sentence::NoSuchArea, ""),
            (None, false) => return None,
        };
        Some(json!({ "key": key, "text": key.text(texts, None).replace("{city}", city) }))
    }

    /// Returns the selected area; `None` if the address has no area or an unknown one.
    fn selected_area(&self, situation: &Situation, text_context: TextContext<'_>) -> Option<SelectedArea> {
        let area = self.data.area(self.area?)?;
        let reported = self.reports.as_deref();
        let about = AreaSituation {
            flood: self.data.flooded(area).map(|row| row.flood),
            over_since: self.data.ended.get(&area.id).copied(),
            reports: reported.map(<[_]>::len),
        };
        Some(SelectedArea::new(area, situation, &about, reported.unwrap_or_default(), text_context))
    }
}

pub(super) fn text<'t>(group: &'t Value, name: &str) -> &'t str {
    group[name].as_str().unwrap_or_default()
}

/// Returns the west, south, east and north of a box.
fn corners(bbox: Rect) -> [f64; 4] {
    [bbox.min().x, bbox.min().y, bbox.max().x, bbox.max().y]
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

fn source_rows(sources: &[SourceReport], zone: Tz) -> Vec<Value> {
    let last_heard = |source: &SourceReport| source.last_heard.map(|at| DisplayTime::new(at, zone));
    sources
        .iter()
        .map(|source| json!({ "name": source.name, "status": source.status, "heard": last_heard(source) }))
        .collect()
}
