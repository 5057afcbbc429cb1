//! Areas to choose a place from: by lists, or by a part of a name.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::model::AreaSet;

/// How many areas a search finds at most.
const MOST_FOUND: usize = 20;

/// Returns the lists of the page without a script: cities, or the larger areas of a city, or the areas of one of these.
pub(super) fn lists(areas: &AreaSet, city: Option<&str>, parent: Option<&str>) -> Value {
    let in_city = || areas.iter().filter(|area| city.is_none_or(|city| area.city_name == city));
    let names = |names: BTreeSet<&str>| names.into_iter().map(Value::from).collect::<Vec<_>>();
    match (city, parent) {
        (Some(city), Some(parent)) => {
            let chosen = in_city().filter(|area| area.parent_name == parent);
            let chosen: Vec<_> = chosen.map(|area| json!({ "id": area.id, "name": area.name })).collect();
            json!({ "city": city, "parent": parent, "areas": chosen })
        }
        (Some(city), None) => {
            let parents = in_city().map(|area| area.parent_name.as_str()).collect();
            json!({ "city": city, "parents": names(parents) })
        }
        (None, _) => json!({ "cities": names(areas.iter().map(|area| area.city_name.as_str()).collect()) }),
    }
}

/// Returns the areas whose name, with that of their larger area and city, contains all words of a text.
pub(super) fn found(areas: &AreaSet, text: &str) -> Value {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return json!([]);
    }
    let matches = areas.iter().enumerate().filter(|(_, area)| {
        let name = format!("{} {} {}", area.name, area.parent_name, area.city_name).to_lowercase();
        words.iter().all(|word| name.contains(word))
    });
    let places = matches.filter_map(|(position, area)| {
        let [lng, lat] = areas.label(position)?;
        Some(json!({ "name": area.name, "parent": area.parent_name, "city": area.city_name, "lat": lat, "lng": lng }))
    });
    places.take(MOST_FOUND).collect()
}
