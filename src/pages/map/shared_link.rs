//! What a link to the map says and shows where somebody shares it.

use super::page::{Page, text};
use super::picture;
use super::selected_area::{SelectedArea, TextContext};
use crate::config::Config;
use crate::data::statements::{FloodData, Sentence, Situation};
use crate::model::{Timestamp, readable};

impl Page<'_> {
    /// Returns the title of the page, and the title of links to it, which has the time of the state.
    pub(super) fn titles(
        &self,
        chosen: Option<&SelectedArea>,
        situation: &Situation,
        TextContext { texts, zone }: TextContext<'_>,
    ) -> (String, String) {
        let name = text(texts.group("map"), "title");
        let flooded =
            situation.page().contains(&Sentence::Flooded).then(|| Sentence::Flooded.text(texts, None));
        let title = match (chosen, flooded) {
            (Some(chosen), _) => chosen.title(),
            (None, Some(flooded)) => format!("{name}, {} {flooded}", situation.flooded),
            (None, None) => name.to_owned(),
        };
        let city = self.selector.city.as_ref().filter(|_| chosen.is_none()).and(self.city_name());
        let city = city.map(|city| format!("{}: ", readable(city)));
        let time = self.title_time(situation).map(|at| format!(", {}", texts.moment(at, zone)));
        let shared = [city.as_deref(), Some(title.as_str()), time.as_deref()];
        let shared = shared.into_iter().flatten().collect();
        (title, shared)
    }

    /// Returns the time of what the title says: of a flood, its last change; of anything else, now, or when the data was last read.
    fn title_time(&self, situation: &Situation) -> Option<Timestamp> {
        let flood = match self.area {
            Some(id) => {
                self.data.area(id).and_then(|area| self.data.flooded(area)).map(|row| row.last_updated)
            }
            None => situation.newest.filter(|_| situation.page().contains(&Sentence::Flooded)),
        };
        match situation.floods {
            FloodData::Unread => None,
            FloodData::Until(since) => Some(since),
            FloodData::Now => flood.or(Some(situation.now)),
        }
    }

    /// Returns the address of the page's picture; `None` if nothing can be drawn.
    pub(super) fn picture_address(&self, situation: &Situation, config: &Config) -> Option<String> {
        if self.is_unknown() || self.data.areas.is_empty() {
            return None;
        }
        let list = self.data.list.as_ref()?;
        let place =
            self.area.map(|id| ("area", id)).or(self.selector.city.as_deref().map(|city| ("city", city)));
        let time = self.data.last_changed.map(|at| at.to_string());
        let revision =
            picture::revision(self.data.cursor?, situation.watch, list.unconfirmed_count(situation.now));
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(place).extend_pairs(time.map(|time| ("time", time)));
        query.append_pair("revision", &revision);
        Some(format!("{}/map/picture.png?{}", config.base_url.origin(), query.finish()))
    }
}
