use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use minijinja::value::Serde;
use rocket::tokio::time;
use serde_json::{Value, json};

use super::list::{List, Moment, name_of, readable};
use crate::changes::Cursor;
use crate::config::Config;
use crate::error::Problem;
use crate::formats::topojson::TopoJson;
use crate::formats::{Format, FormatRegistry};
use crate::guards::Language;
use crate::model::alerts::CONFIRMED_FOR;
use crate::model::{Area, AreaSelector, AreaSet, Covered, FloodState, LayerKind, SourceStatus, Timestamp};
use crate::pages::files::bare;
use crate::rendering::{Answer, Answers, HTML, Question, prepared};
use crate::shell::{Here, Shell};
use crate::sources::SourceReport;
use crate::stores::{FloodQuery, LayerQuery};
use crate::tasks::off_thread;

const PAGE: &str = include_str!("page.html");
/// The style sheets of the page, which are part of it: a request less on a slow connection.
const STYLES: [&str; 2] = [include_str!("module/view.css"), include_str!("map.css")];

/// How often a page looks how current the data is, in milliseconds.
const CHECK: u32 = 60_000;

/// The floods that a page shows.
#[derive(Debug)]
pub(super) struct Shown {
    /// `None` if they cannot be read, and were not read before.
    list: Option<List>,
    /// Since when they may be out of date, and how long ago that is.
    stale: Option<(Timestamp, Duration)>,
    /// The page follows the changes from here on. The states that it shows are not older, unless they are stale.
    cursor: Option<Cursor>,
    areas: Arc<AreaSet>,
    /// The names of the cities that the areas lie in, by code.
    cities: BTreeMap<String, String>,
    /// The version of the base map; `None` if there is none.
    ground: Option<String>,
}

impl Shown {
    /// Reads what a page shows. An error is logged: the page is there without floods.
    pub(super) async fn of(
        answers: &Answers,
        selector: &AreaSelector,
        formats: &FormatRegistry,
        config: &Config,
    ) -> Self {
        let cursor = answers.follower.states().borrow().as_ref().map(|state| state.cursor());
        let (list, stale) = match floods(answers, selector, formats, config).await {
            Ok(Some((list, stale))) => (Some(list), stale),
            Ok(None) => (None, None),
            Err(problem) => {
                problem.log_cause("the page of the map has no floods");
                (None, None)
            }
        };
        let areas = time::timeout(config.limits.timeout, answers.follower.areas()).await;
        let areas = areas.ok().and_then(Result::ok).unwrap_or_default();
        let is_named = |area: &&Area| !area.city_code.is_empty();
        let city = |area: &Area| (area.city_code.clone(), readable(&area.city_name));
        let cities = areas.iter().filter(is_named).map(city).collect();
        // What is stale may be older than the cursor.
        let cursor = cursor.filter(|_| list.is_some() && stale.is_none());
        Self { list, stale, cursor, areas, cities, ground: None }
    }

    /// Sets the version of the base map, which is empty if there is none.
    pub(super) fn on(self, ground: Option<String>) -> Self {
        Self { ground: ground.filter(|version| !version.is_empty()), ..self }
    }

    fn area(&self, id: &str) -> Option<&Area> {
        Some(&self.areas[self.areas.position(id.parse().ok()?)?])
    }
}

/// Returns the floods of the response to the question that the script of the page asks, too.
async fn floods(
    answers: &Answers,
    selector: &AreaSelector,
    formats: &FormatRegistry,
    config: &Config,
) -> Result<Option<(List, Option<(Timestamp, Duration)>)>, Problem> {
    let (deadline, zone) = (time::Instant::now() + config.limits.timeout, config.time_zone);
    let Some((rendered, stale)) = answers.rendered(&question(selector, formats), deadline).await? else {
        return Ok(None);
    };
    let reading = off_thread(move |_| List::of(rendered.content.bytes(), zone)).await;
    Ok(Some((reading.map_err(Problem::internal)?.map_err(Problem::internal)?, stale)))
}

fn question(selector: &AreaSelector, formats: &FormatRegistry) -> Question {
    let query = FloodQuery { selector: selector.clone(), minimum_state: Some(FloodState::Unknown) };
    let mut enabled = formats.carrying(LayerKind::Floods);
    let format = enabled.find(|format| format.name() == TopoJson::NAME).cloned();
    let format = format.unwrap_or_else(|| Arc::new(TopoJson::default()) as Arc<dyn Format>);
    Question::Layer(LayerQuery::Floods(query), format)
}

/// A page before it is rendered.
pub(super) struct Page<'a> {
    pub(super) shown: &'a Shown,
    pub(super) language: &'a Language,
    pub(super) selector: &'a AreaSelector,
    /// The area of the address, which may not exist.
    pub(super) area: Option<&'a str>,
    /// The city of the address, if the service has no areas in it.
    pub(super) unknown_city: Option<&'a str>,
    /// Whether all flooded areas are listed.
    pub(super) is_whole: bool,
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

    pub(super) async fn render(
        &self,
        answers: &Answers,
        shell: &Shell,
        config: &Config,
    ) -> Result<Answer, Problem> {
        let page = self.written(answers, shell, config)?;
        let page = Answer::shared(&prepared(HTML, page.into_bytes()).await?);
        Ok(match self.shown.stale {
            Some((since, age)) => page.stale_since(since, age),
            None => page,
        })
    }

    pub(super) fn written(
        &self,
        answers: &Answers,
        shell: &Shell,
        config: &Config,
    ) -> Result<String, Problem> {
        let Self { shown, language, selector, .. } = self;
        let Shown { list, stale, cursor, areas, cities, ground } = shown;
        let (now, zone) = (answers.now(), config.time_zone);
        let nothing = List::default();
        let (is_known, list) = (list.is_some(), list.as_ref().unwrap_or(&nothing));
        let (texts, depths) = (language.texts().group("map"), language.texts().group("depths"));
        let empty = match (is_known && stale.is_none() && areas.is_empty(), selector.is_everything()) {
            (true, _) => &texts["noAreas"],
            (false, true) => &texts["none"],
            (false, false) => &texts["noneHere"],
        };
        let sources = answers.sources.reports();
        let is_silent = answers.sources.is_silent(Covered::Floods);
        let said = match (is_known, is_silent) {
            (false, _) => &texts["script"]["away"],
            (true, true) => &texts["script"]["noneSilent"],
            (true, false) => empty,
        };
        let base = config.base_url.path().trim_end_matches('/');
        let around = areas.around(selector).map(|of| [of.min().x, of.min().y, of.max().x, of.max().y]);
        let settings = json!({
            "base": base,
            "language": language.code(),
            "timeZone": zone.name(),
            "zone": now.to_utc().with_timezone(&zone).format("%Z").to_string(),
            "texts": texts["script"],
            "depths": depths,
            "city": selector.city,
            "cursor": cursor.map(|cursor| cursor.to_string()),
            "tiles": config.map.tiles,
            "ground": ground,
            "attribution": config.map.basemap.attribution,
            "photos": config.photos_url(),
            "empty": empty,
            "known": is_known,
            "stale": stale.map(|(since, _)| since),
            "check": CHECK,
            "names": "/map/names",
            "box": around,
            "confirmedFor": CONFIRMED_FOR.as_millis() as u64,
            "isWatched": !sources.is_empty(),
        });
        let states = FloodState::ALL.map(|state| {
            let code = state.code().to_string();
            json!({ "count": list.count(state), "advice": texts["script"]["advice"][&code], "code": code })
        });
        let can_select = !config.areas.supported.by(LayerKind::Floods).city.is_empty();
        let offered = cities.iter().filter(|_| can_select);
        let more = list.rest(self.is_whole);
        let more = texts["script"]["more"]
            .as_str()
            .filter(|_| more > 0)
            .map(|text| text.replace("{count}", &more.to_string()));
        let values = minijinja::context! {
            language => language.code(),
            t => Serde(texts),
            depths => Serde(depths),
            settings => settings.to_string(),
            styles => STYLES.map(bare).concat(),
            floods => format!("{base}/floods?{}", self.query("minimum_state", "1")),
            total => list.total(),
            newest => Serde(list.newest()),
            groups => Serde(list.groups(self.is_whole, now)),
            more => more,
            selected => format!("{}&", self.query("lang", language.code())),
            states => Serde(states),
            sources => Serde(listed(&sources, zone)),
            watch => watch(&sources, is_silent, &texts["script"], zone),
            missing => self.missing(texts),
            chosen => Serde(self.chosen(list, texts, depths, config)),
            empty => said.as_str(),
            stale => Serde(stale.map(|(since, _)| Moment::of(since, zone))),
            cities => Serde(offered.map(|(code, name)| json!({ "code": code, "name": name })).collect::<Vec<_>>()),
            city => selector.city.clone(),
            alerts => format!("{base}/alerts"),
        };
        let kept = [("area", self.area), ("city", selector.city.as_deref())];
        let kept: Vec<_> = kept.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let here = Here { page: "map", path: "/map", keep: &kept };
        shell.render(PAGE, language.texts(), here, values).map_err(Problem::internal)
    }

    /// Returns the selected city and another parameter as a query.
    fn query(&self, name: &str, value: &str) -> String {
        let city = self.selector.city.as_ref().map(|city| ("city", city));
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(city).append_pair(name, value).finish()
    }

    /// Returns what the page says about a city or an area that the service does not know.
    fn missing(&self, texts: &Value) -> Option<String> {
        match (self.unknown_city, self.is_unknown_area()) {
            (Some(city), _) => texts["notCoveredCity"].as_str().map(|text| text.replace("{city}", city)),
            (None, true) => texts["script"]["noSuchArea"].as_str().map(str::to_owned),
            (None, false) => None,
        }
    }

    /// Returns what the page says about the area of the address; null if there is none.
    fn chosen(&self, list: &List, texts: &Value, depths: &Value, config: &Config) -> Value {
        let Some(area) = self.area.and_then(|id| self.shown.area(id)) else { return Value::Null };
        let id = area.id.to_string();
        let flooded = list.find(&id);
        let words = flooded.map_or(&texts["script"]["dry"], |of| &depths[&of.state]);
        json!({
            "name": name_of(&area.parent_name, &area.name, &id),
            "city": readable(&area.city_name),
            "state": flooded.map(|of| &of.state),
            "words": words,
            "since": flooded.map(|of| Moment::of(of.since, config.time_zone)),
            "advice": flooded.map(|of| &texts["script"]["advice"][&of.state]),
        })
    }
}

/// Returns what makes "no flood recorded" less than certain: a silent source of floods, or that no source is watched.
fn watch(sources: &[SourceReport], is_silent: bool, texts: &Value, zone: Tz) -> Option<String> {
    let covers_floods =
        |of: &&SourceReport| of.status == SourceStatus::Silent && of.covers.contains(&Covered::Floods);
    match sources.iter().find(covers_floods).filter(|_| is_silent) {
        Some(of) => {
            let said = texts[if of.last_heard.is_some() { "silentSince" } else { "silentAlways" }].as_str();
            let heard = of.last_heard.map(|at| Moment::of(at, zone).text).unwrap_or_default();
            Some(said.unwrap_or_default().replace("{source}", &of.name).replace("{age}", &heard))
        }
        None if sources.is_empty() => texts["unwatched"].as_str().map(str::to_owned),
        None => None,
    }
}

/// Returns the sources as the page lists them.
fn listed(sources: &[SourceReport], zone: Tz) -> Vec<Value> {
    let heard = |of: &SourceReport| of.last_heard.map(|at| Moment::of(at, zone));
    sources.iter().map(|of| json!({ "name": of.name, "status": of.status, "heard": heard(of) })).collect()
}
