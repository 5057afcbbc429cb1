use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use minijinja::value::Serde;
use serde_json::{Map, Value, json};

use super::list::{DisplayTime, Flooded, List, MOST, area_name};
use super::selected_area::{SelectedArea, Writing, for_script};
use crate::changes::{Cursor, State};
use crate::config::Config;
use crate::data::country::Translations;
use crate::data::statements::{AreaSituation, FloodData, OVER_FOR, SHOWN_FOR, Sentence, Situation};
use crate::guards::Language;
use crate::http::error::Problem;
use crate::model::alerts::CONFIRMED_FOR;
use crate::model::{Area, AreaId, AreaSelector, AreaSet, FloodState, LayerKind, Timestamp, readable};
use crate::pages::layout::{Layout, PageContext, PageTemplate};
use crate::pages::reported::Reported;
use crate::pages::{doubt, over};
use crate::rendering::{ApiResponse, HTML, ResponseCache, prepared};
use crate::sources::{SourceReport, watch};
use crate::stores::Revision;

const PAGE: PageTemplate = PageTemplate::new("map.html", include_str!("page.html"));
/// How often a page looks how current the data is, in milliseconds.
const CHECK: u32 = 60_000;

/// The data that a page shows.
#[derive(Debug)]
pub(super) struct MapData {
    pub(super) version: Version,
    floods: FloodData,
    /// `None` if the floods cannot be read, and were not read before.
    list: Option<List>,
    /// The page follows the changes from here on. The states that it shows are not older, unless they are stale.
    cursor: Option<Cursor>,
    areas: Arc<AreaSet>,
    /// Since when the floods of dry areas of the selection are over.
    over: BTreeMap<AreaId, Timestamp>,
    /// The version of the base map; `None` if there is none.
    ground: Option<String>,
}

/// The version of the data that a page is made from: the epoch and the revisions of floods and places, and whether it is current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(Option<(u64, [Revision; 2])>, FloodData);

impl Version {
    pub(super) fn new(state: Option<&State>, floods: FloodData) -> Self {
        let cursor = state.map(State::cursor);
        Self(cursor.map(|cursor| (cursor.epoch, [cursor.floods, cursor.places])), floods)
    }
}

impl MapData {
    /// Collects what a page shows of the states and the areas that were last read. Costs O(areas).
    pub(super) fn new(
        state: Option<&State>,
        (floods, areas): (FloodData, Arc<AreaSet>),
        selector: &AreaSelector,
        zone: Tz,
        ground: Option<String>,
    ) -> Self {
        let over = over(state).filter(|(area, _)| selector.matches(area));
        Self {
            version: Version::new(state, floods),
            floods,
            list: state.map(|state| List::new(state, selector, zone)),
            // Another server may have read further than stale states.
            cursor: state.filter(|_| floods == FloodData::Now).map(State::cursor),
            areas,
            over: over.map(|(area, at)| (area.id, at)).collect(),
            // It is empty if there is no base map.
            ground: ground.filter(|version| !version.is_empty()),
        }
    }

    /// Returns the area with this identifier.
    pub(super) fn area(&self, id: &str) -> Option<&Area> {
        Some(&self.areas[self.areas.position(id.parse().ok()?)?])
    }

    /// Returns whether the states are those of now.
    pub(super) fn is_current(&self) -> bool {
        self.floods == FloodData::Now
    }

    fn flooded(&self, area: &Area) -> Option<&Flooded> {
        self.list.as_ref()?.find(self.areas.position(area.id)?)
    }

    /// Returns when an area was last changed: its state was set, or cleared.
    pub(super) fn changed(&self, area: &Area) -> Option<Timestamp> {
        let flooded = self.flooded(area);
        flooded.map(|row| row.last_updated).or_else(|| self.over.get(&area.id).copied())
    }
}

/// A page before it is rendered.
pub(super) struct Page<'a> {
    pub(super) shown: &'a MapData,
    pub(super) language: &'a Language,
    pub(super) selector: &'a AreaSelector,
    /// The area of the address, which may not exist.
    pub(super) area: Option<&'a str>,
    /// The city of the address, if the service has no areas in it.
    pub(super) unknown_city: Option<&'a str>,
    /// Whether all flooded areas are listed.
    pub(super) is_whole: bool,
    /// The reports from the area of the address that count; `None` if they cannot be read.
    pub(super) reported: Option<Vec<Reported>>,
    /// The sources, as the page lists them.
    pub(super) sources: &'a [SourceReport],
    /// The style sheets of the page, which are part of it: a request less on a slow connection.
    pub(super) styles: &'a str,
}

impl Page<'_> {
    /// Returns whether many visitors see the same page.
    pub(super) fn is_plain(&self) -> bool {
        self.area.is_none() && self.unknown_city.is_none() && !self.is_whole
    }

    /// Returns whether the service knows nothing about the city or the area of the address.
    pub(super) fn is_unknown(&self) -> bool {
        self.unknown_city.is_some() || self.is_unknown_area()
    }

    fn is_unknown_area(&self) -> bool {
        !self.shown.areas.is_empty() && self.area.is_some_and(|id| self.shown.area(id).is_none())
    }

    /// Returns the page. One that names reports is made for each request, and kept by no cache: a hidden report is gone at once.
    pub(super) async fn render(
        &self,
        answers: &ResponseCache,
        shell: &Layout,
        config: &Config,
    ) -> Result<ApiResponse, Problem> {
        let page = self.written(answers, shell, config)?;
        if self.reported.as_ref().is_some_and(|reported| !reported.is_empty()) {
            return ApiResponse::private_page(page).compressed().await;
        }
        Ok(ApiResponse::shared(&prepared(HTML, page.into_bytes()).await?))
    }

    /// Marks the page as stale if its states may be out of date.
    pub(super) fn dated(&self, page: ApiResponse, now: Timestamp) -> ApiResponse {
        match self.shown.floods.stale_since() {
            Some(since) => page.stale_since(since, now.since(since)),
            None => page,
        }
    }

    /// Describes what the page knows.
    fn situation(&self, now: Timestamp) -> Situation {
        let MapData { list, floods, areas, over, .. } = self.shown;
        Situation {
            now,
            floods: *floods,
            watch: watch(self.sources).0,
            // Areas that cannot be read are not known to be none.
            has_areas: !(self.shown.is_current() && areas.is_empty()),
            is_part: !self.selector.is_everything(),
            flooded: list.as_ref().map_or(0, List::total),
            newest: list.as_ref().and_then(List::newest).max(over.values().max().copied()),
        }
    }

    pub(super) fn written(
        &self,
        answers: &ResponseCache,
        shell: &Layout,
        config: &Config,
    ) -> Result<String, Problem> {
        let Self { shown, language, selector, sources, .. } = *self;
        let MapData { list, cursor, areas, over, ground, .. } = shown;
        let (now, zone, texts) = (answers.now(), config.time_zone, language.translations());
        let writing = Writing { texts, zone };
        let situation = self.situation(now);
        let says = situation.page();
        let (nothing, is_read) =
            (List::default(), !says.contains(&Sentence::Away) && !says.contains(&Sentence::Old));
        let list = list.as_ref().filter(|_| is_read).unwrap_or(&nothing);
        let (t, depths) = (texts.group("map"), texts.group("depths"));
        let said = |key: Sentence| says.contains(&key).then(|| key.text(texts, None));
        let stale = situation.floods.stale_since();
        let newest = situation.newest.filter(|_| says.contains(&Sentence::Newest));
        let base = config.base_url.path().trim_end_matches('/');
        let around = areas.around(selector).map(|of| [of.min().x, of.min().y, of.max().x, of.max().y]);
        let (watched, silent) = watch(sources);
        let settings = json!({
            "base": base,
            "language": language.code(),
            "timeZone": zone.name(),
            "zone": now.to_utc().with_timezone(&zone).format("%Z").to_string(),
            "texts": t["script"],
            "says": Sentence::for_script(texts),
            "depths": depths,
            "city": selector.city,
            "cityName": areas.iter().find(|area| selector.matches(area)).map(|area| &area.city_name),
            "cursor": cursor.map(|cursor| cursor.to_string()),
            "tiles": config.map.tiles,
            "ground": ground,
            "attribution": config.map.basemap.attribution,
            "photos": config.photos_url(),
            "known": situation.floods != FloodData::Unread,
            "stale": stale,
            "watch": watched.name(),
            "silent": silent.map(|of| json!({ "name": of.name, "last_heard": of.last_heard })),
            "hasAreas": situation.has_areas,
            "newest": situation.newest,
            "over": over.iter().filter(|(_, at)| now.since(**at) < OVER_FOR).map(|(id, at)| (id.to_string(), json!(at))).collect::<Map<_, _>>(),
            "reported": self.reported.as_ref().map(|reported| json!({ "area": self.area, "reports": for_script(reported) })),
            "check": CHECK,
            "names": "/map/names",
            "box": around,
            "confirmedFor": milliseconds(CONFIRMED_FOR),
            "overFor": milliseconds(OVER_FOR),
            "shownFor": milliseconds(SHOWN_FOR),
            "reportsFor": milliseconds(config.attention.suggesting_within),
        });
        let states = FloodState::ALL.map(|state| {
            let code = state.code().to_string();
            json!({ "count": list.count(state), "advice": t["script"]["advice"][&code], "code": code })
        });
        let can_select = !config.areas.selectable(LayerKind::Floods).city.is_empty();
        let offered = areas.city_names().iter().filter(|_| can_select);
        let more = list.rest(self.is_whole);
        let more = t["script"]["more"]
            .as_str()
            .filter(|_| more > 0)
            .map(|text| text.replace("{count}", &more.to_string()));
        let chosen = self.chosen(&situation, writing);
        let title = match (&chosen, said(Sentence::Flooded)) {
            (Some(chosen), _) => chosen.title(),
            (None, Some(flooded)) => format!("{}, {} {flooded}", text(t, "title"), list.total()),
            (None, None) => text(t, "title").to_owned(),
        };
        let mut settings = settings;
        settings["title"] = title.clone().into();
        settings["says"]["title"] = t["title"].clone();
        let values = minijinja::context! {
            language => language.code(),
            title => title,
            t => Serde(t),
            depths => Serde(depths),
            settings => settings.to_string(),
            styles => self.styles,
            floods => format!("{base}/floods?{}", self.query("minimum_state", "1")),
            total => list.total(),
            counted => said(Sentence::Flooded),
            empty => says.first().filter(|key| **key != Sentence::Flooded).map(|key| json!({ "key": key, "text": key.text(texts, None) })).map(Serde),
            newest => newest.map(|at| Serde(DisplayTime::new(at, zone))),
            never => said(Sentence::Never),
            groups => Serde(list.groups(self.is_whole, now)),
            more => more,
            selected => format!("{}&", self.query("lang", language.code())),
            states => Serde(states),
            sources => Serde(listed(sources, zone)),
            watch => doubt(&says, silent, texts, |at| DisplayTime::new(at, zone).text)
                .map(|(key, text)| Serde(json!({ "key": key, "text": text }))),
            missing => self.missing(texts).map(Serde),
            chosen => chosen.map(Serde),
            over => Serde(self.over(&situation, zone)),
            stale => stale.map(|since| Serde(DisplayTime::new(since, zone))),
            cities => Serde(offered.map(|(code, name)| json!({ "code": code, "name": name })).collect::<Vec<_>>()),
            city => selector.city.clone(),
            alerts => format!("{base}/alerts"),
        };
        let kept = [("area", self.area), ("city", selector.city.as_deref())];
        let kept: Vec<_> = kept.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let here = PageContext { page: "map", path: "/map", keep: &kept };
        shell.render(PAGE, texts, here, values).map_err(Problem::internal)
    }

    /// Returns the selected city and another parameter as a query.
    fn query(&self, name: &str, value: &str) -> String {
        let city = self.selector.city.as_ref().map(|city| ("city", city));
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(city).append_pair(name, value).finish()
    }

    /// Returns the areas whose flood is over, the last first, for as long as that may be said.
    fn over(&self, situation: &Situation, zone: Tz) -> Vec<Value> {
        let about = |over_since| AreaSituation { flood: None, over_since, reports: Some(0) };
        let is_said = |at| situation.area(&about(Some(at))).contains(&Sentence::Over);
        let mut over: Vec<_> = self.shown.over.iter().filter(|(_, at)| is_said(**at)).collect();
        over.sort_by_key(|(_, at)| Reverse(**at));
        let rows = over.into_iter().take(MOST).filter_map(|(id, at)| {
            let area = &self.shown.areas[self.shown.areas.position(*id)?];
            Some(json!({ "id": id, "name": area_name(area), "city": readable(&area.city_name), "since": DisplayTime::new(*at, zone) }))
        });
        rows.collect()
    }

    /// Returns what the page says about a city or an area that the service does not know.
    fn missing(&self, texts: &Translations) -> Option<Value> {
        let (key, city) = match (self.unknown_city, self.is_unknown_area()) {
            (Some(city), _) => (Sentence::NotCoveredCity, city),
            (None, true) => (Sentence::NoSuchArea, ""),
            (None, false) => return None,
        };
        Some(json!({ "key": key, "text": key.text(texts, None).replace("{city}", city) }))
    }

    /// Returns what the page says about the area of the address.
    fn chosen(&self, situation: &Situation, writing: Writing<'_>) -> Option<SelectedArea> {
        let area = self.shown.area(self.area?)?;
        let reported = self.reported.as_deref();
        let about = AreaSituation {
            flood: self.shown.flooded(area).map(|row| row.flood),
            over_since: self.shown.over.get(&area.id).copied(),
            reports: reported.map(<[_]>::len),
        };
        Some(SelectedArea::new(area, situation, &about, reported.unwrap_or_default(), writing))
    }
}

/// Returns a text of a group.
fn text<'t>(group: &'t Value, name: &str) -> &'t str {
    group[name].as_str().unwrap_or_default()
}

fn milliseconds(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the sources as the page lists them.
fn listed(sources: &[SourceReport], zone: Tz) -> Vec<Value> {
    let heard = |of: &SourceReport| of.last_heard.map(|at| DisplayTime::new(at, zone));
    sources.iter().map(|of| json!({ "name": of.name, "status": of.status, "heard": heard(of) })).collect()
}
