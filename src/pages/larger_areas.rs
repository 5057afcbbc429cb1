use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

use crate::data::country::Translations;
use crate::model::{Area, AreaId, AreaSet, FloodState, readable};

/// A larger area with floods: how many of its areas are flooded, and the deepest state.
#[derive(Debug)]
pub(crate) struct LargerArea<'a> {
    pub(crate) city: &'a str,
    pub(crate) parent: &'a str,
    pub(crate) flooded: usize,
    /// The number of areas, flooded or not.
    pub(crate) areas: usize,
    pub(crate) deepest: FloodState,
    /// The number of flooded areas whose depth is not known.
    unknown: usize,
    /// An area in it, for links.
    first: AreaId,
}

/// What a page shows about a larger area.
#[derive(Debug, Serialize)]
pub(crate) struct LargerAreaRow {
    name: String,
    city: String,
    state: u8,
    text: String,
    area: AreaId,
}

/// Returns the larger areas with floods: deepest first, then those with the most flooded areas, then by name. Areas that are not in
/// `areas` are left out. Costs O(areas).
pub(crate) fn larger_areas(
    areas: &AreaSet,
    flooded: impl Iterator<Item = (AreaId, FloodState)>,
) -> Vec<LargerArea<'_>> {
    let mut found: HashMap<_, LargerArea<'_>> = HashMap::new();
    for (id, state) in flooded {
        let Some(area) = areas.find(id) else { continue };
        let (city, parent) = key(area);
        let new = LargerArea { city, parent, flooded: 0, areas: 0, deepest: state, unknown: 0, first: id };
        let larger = found.entry((city, parent)).or_insert(new);
        larger.flooded += 1;
        larger.unknown += usize::from(state == FloodState::Unknown);
        (larger.deepest, larger.first) = (larger.deepest.max(state), larger.first.min(id));
    }
    for area in areas {
        if let Some(larger) = found.get_mut(&key(area)) {
            larger.areas += 1;
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by_key(|larger| (Reverse((larger.deepest, larger.flooded)), larger.city, larger.parent));
    found
}

impl LargerArea<'_> {
    pub(crate) fn row(&self, texts: &Translations) -> LargerAreaRow {
        let state = self.deepest.code();
        let text = texts.text("words", "larger");
        let text = text
            .replace("{count}", &self.flooded.to_string())
            .replace("{all}", &self.areas.to_string())
            .replace("{depth}", texts.text("depths", &state.to_string()));
        let text = if self.deepest > FloodState::Unknown && self.unknown > 0 {
            let unknown = texts.text("words", "unknown").replace("{count}", &self.unknown.to_string());
            format!("{text}; {unknown}")
        } else {
            text
        };
        let names = [self.parent, self.city].map(readable);
        let [name, city] = if self.parent.is_empty() { [names[1].clone(), String::new()] } else { names };
        LargerAreaRow { name, city, state, text, area: self.first }
    }
}

/// Returns city and name of the larger area that contains an area.
pub(crate) fn key(area: &Area) -> (&str, &str) {
    (&area.city_name, &area.parent_name)
}
