//! A search for the named roads and streets of the base map.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use geo::{BoundingRect, Coord, Intersects, Line, Rect};
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::builder::{BasemapGeometry, UNITS, ZoomLevels};
use super::lines::{Point, bounds};
use crate::model::{AreaId, AreaSelector, AreaSet};

const MAX_FOUND: usize = 8;
/// The maximum number of names that match but may be outside all areas: it bounds the time of a search.
const MAX_LOCATED: usize = 64;
/// The maximum number of segments of the roads that match: it bounds the time of a search too.
const MAX_SEGMENTS: usize = 20_000;

/// The part of a road or street in one city.
#[derive(Debug, Serialize)]
pub(crate) struct Street<'n> {
    name: &'n str,
    city: &'n str,
    /// The areas that it touches.
    areas: Vec<AreaId>,
    /// Longitude and latitude of a point on it.
    at: [f64; 2],
}

/// The words of all names of roads and streets, indexed on the first search.
#[derive(Debug)]
pub(crate) struct StreetIndex {
    map: Arc<ZoomLevels>,
    names: OnceLock<Vec<StreetName>>,
}

/// The words of a name, the number of the name, and the numbers of the roads with this name.
type StreetName = (Vec<String>, u32, Vec<usize>);

/// Returns the words of a text in lower case without accents. Digits are separate words.
fn words(text: &str) -> Vec<String> {
    let plain = text.nfd().filter(|char| !is_combining_mark(*char)).flat_map(char::to_lowercase);
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for char in plain {
        let kind = char.is_alphanumeric().then(|| char.is_numeric());
        match words.last_mut() {
            Some(word) if kind.is_some() && kind == last => word.push(char),
            _ if kind.is_some() => words.push(char.into()),
            _ => {}
        }
        last = kind;
    }
    words
}

/// The words that people search for.
struct StreetQuery {
    words: Vec<String>,
    /// All words without spaces, if none is a number.
    joined: Option<String>,
}

impl StreetQuery {
    fn new(words: Vec<String>) -> Self {
        let has_number = words.iter().any(|word| word.starts_with(char::is_numeric));
        let joined = (!has_number).then(|| words.concat());
        Self { words, joined }
    }

    /// Returns how many words of a name the query leaves out or abbreviates; `None` if a word of the query begins none of the name,
    /// and all words together do not begin the name.
    fn missing_words(&self, name: &[String]) -> Option<usize> {
        let begins = |wanted: &String, word: &String| {
            let is_number = wanted.starts_with(char::is_numeric);
            if is_number { wanted == word } else { word.starts_with(wanted.as_str()) }
        };
        let is_found = self.words.iter().all(|wanted| name.iter().any(|word| begins(wanted, word)));
        let is_match = is_found || self.joined.as_deref().is_some_and(|joined| begin_name(joined, name));
        is_match.then(|| name.iter().filter(|word| !self.words.contains(word)).count())
    }
}

/// Whether a name without spaces begins with `letters`.
fn begin_name(letters: &str, name: &[String]) -> bool {
    let mut rest = letters;
    for word in name {
        if word.starts_with(rest) {
            return true;
        }
        let Some(after) = rest.strip_prefix(word.as_str()) else { return false };
        rest = after;
    }
    false
}

impl StreetIndex {
    pub(super) fn new(map: Arc<ZoomLevels>) -> Self {
        Self { map, names: OnceLock::new() }
    }

    fn read_names(map: &ZoomLevels) -> Vec<StreetName> {
        let mut roads: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, road) in map.roads() {
            roads.entry(road.name).or_default().push(number);
        }
        let names = roads.into_iter().map(|(name, roads)| (words(map.name(name)), name, roads));
        names.filter(|(words, ..)| !words.is_empty()).collect()
    }

    /// Returns the streets whose name has all words of a query, or words that begin with them, the most similar name first: at most
    /// `MAX_FOUND`, each in one city. `abbreviations` are words in lower case, and what they stand for. Costs O(names), and
    /// O(areas) for each road that is found.
    pub(crate) fn find<'a>(
        &'a self,
        query: &str,
        abbreviations: &BTreeMap<String, String>,
        areas: &'a AreaSet,
        selector: &AreaSelector,
    ) -> Vec<Street<'a>> {
        let full = |word: String| abbreviations.get(&word).map_or_else(|| vec![word], |full| words(full));
        let query = StreetQuery::new(words(query).into_iter().flat_map(full).collect());
        if query.words.is_empty() {
            return Vec::new();
        }
        let names = self.names.get_or_init(|| Self::read_names(&self.map)).iter();
        let matches = names.filter_map(|entry| Some((query.missing_words(&entry.0)?, entry)));
        let mut matches: Vec<_> = matches.collect();
        matches.sort_by_key(|(missing, (words, ..))| (*missing, words));
        let mut budget = MAX_SEGMENTS;
        let located = matches.into_iter().take(MAX_LOCATED);
        let streets = located
            .flat_map(|(_, (_, name, roads))| self.in_cities(*name, roads, areas, selector, &mut budget));
        streets.take(MAX_FOUND).collect()
    }

    fn in_cities<'a>(
        &'a self,
        name: u32,
        roads: &[usize],
        areas: &'a AreaSet,
        selector: &AreaSelector,
        budget: &mut usize,
    ) -> impl Iterator<Item = Street<'a>> + use<'a> {
        let mut cities: BTreeMap<&str, (BTreeSet<AreaId>, Coord<f64>, bool)> = BTreeMap::new();
        for road in roads.iter().filter_map(|number| self.map.road(*number)) {
            let [west, south, east, north] = bounds(&road.lines);
            let bounds = Rect::new(degrees([west, south]), degrees([east, north]));
            let near: Vec<_> =
                areas.near(bounds).filter(|position| selector.matches(&areas[*position])).collect();
            for segment in segments(road) {
                let Some(rest) = budget.checked_sub(1) else { break };
                *budget = rest;
                let around = segment.bounding_rect();
                let is_around = |position: &&usize| {
                    areas.bounds(**position).is_some_and(|bounds| bounds.intersects(&around))
                };
                for area in near.iter().filter(is_around).map(|position| &areas[*position]) {
                    if !area.outline.intersects(&segment) {
                        continue;
                    }
                    let is_inside = area.outline.intersects(&segment.start);
                    let city = cities
                        .entry(&area.city_name)
                        .or_insert_with(|| (BTreeSet::new(), segment.start, is_inside));
                    if is_inside && !city.2 {
                        (city.1, city.2) = (segment.start, true);
                    }
                    city.0.insert(area.id);
                }
            }
        }
        cities.into_iter().map(move |(city, (areas, at, _))| Street {
            name: self.map.name(name),
            city,
            areas: areas.into_iter().collect(),
            at: [at.x, at.y],
        })
    }
}

fn degrees([x, y]: Point) -> Coord<f64> {
    Coord { x: f64::from(x) / UNITS, y: f64::from(y) / UNITS }
}

/// Returns the segments of a road, in degrees.
fn segments(road: &BasemapGeometry) -> impl Iterator<Item = Line<f64>> + use<'_> {
    road.lines
        .iter()
        .flat_map(|line| line.windows(2))
        .map(|pair| Line::new(degrees(pair[0]), degrees(pair[1])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(query: &str, name: &str) -> Option<usize> {
        StreetQuery::new(words(query)).missing_words(&words(name))
    }

    #[test]
    fn words_have_no_case_no_accents_and_no_signs() {
        assert_eq!(words("Jl. K.H. Äbdül-7A"), ["jl", "k", "h", "abdul", "7", "a"]);
        assert_eq!(words(" ,. "), [""; 0]);
    }

    #[test]
    fn a_query_finds_names_by_the_beginnings_of_words_in_any_order_and_numbers_exactly() {
        assert_eq!(missing("otista", "Jalan Otista Raya"), Some(2));
        assert_eq!(missing("raya oti", "Jalan Otista Raya"), Some(2));
        assert_eq!(missing("jalan otista raya", "Jalan Otista Raya"), Some(0));
        assert_eq!(missing("otista 3", "Jalan Otista 3"), Some(1));
        assert_eq!(missing("otista 3", "Jalan Otista 30"), None);
        assert_eq!(missing("feld kircher strasse", "Feldkircherstrasse"), Some(1));
        assert_eq!(missing("feldkircherstr", "Feldkircher Strasse"), Some(2));
        assert_eq!(missing("sudirman", "Jalan Otista"), None);
    }
}
