//! Finds areas that people can choose as the location of a report: by lists, or by a search.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::model::AreaSet;

const MAX_RESULTS: usize = 20;

/// Returns the lists of the page without a script: cities, the parents in a city, or the areas in a parent.
pub(super) fn choices(areas: &AreaSet, city: Option<&str>, parent: Option<&str>) -> Value {
    let in_city = || areas.iter().filter(|area| city.is_none_or(|city| area.city_name == city));
    let names = |names: BTreeSet<&str>| names.into_iter().map(Value::from).collect::<Vec<_>>();
    match (city, parent) {
        (Some(city), Some(parent)) => {
            let children = in_city().filter(|area| area.parent_name == parent);
            let children: Vec<_> = children.map(|area| json!({ "id": area.id, "name": area.name })).collect();
            json!({ "city": city, "parent": parent, "areas": children })
        }
        (Some(city), None) => {
            let parents = in_city().map(|area| area.parent_name.as_str()).collect();
            json!({ "city": city, "parents": names(parents) })
        }
        (None, _) => json!({ "cities": names(areas.iter().map(|area| area.city_name.as_str()).collect()) }),
    }
}

/// Returns the areas whose names (with parent and city) contain all words of a text.
pub(super) fn search(areas: &AreaSet, text: &str) -> Value {
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
    places.take(MAX_RESULTS).collect()
}
