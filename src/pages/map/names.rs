//! The names of all areas and of the places of the base map, for the search of the page.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocket::tokio::sync::Mutex;
use serde_json::json;

use crate::http::error::Problem;
use crate::model::AreaSet;
use crate::rendering::basemap::Basemap;
use crate::rendering::cache::Rendered;
use crate::rendering::{JSON, prepared};

/// The index of the areas that were last read.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<Option<(Arc<AreaSet>, Rendered)>>);

impl Names {
    /// Returns the index: `cities`, each with its larger areas, each with its areas: `[[city,[[parent,[[id,name]]]]]]`, in the order
    /// of names and numbers; and `places` with longitude and latitude. It is written once for each set of areas.
    pub(super) async fn index(&self, areas: Arc<AreaSet>, basemap: &Basemap) -> Result<Rendered, Problem> {
        let mut known = self.0.lock().await;
        if let Some((of, rendered)) = &*known
            && Arc::ptr_eq(of, &areas)
        {
            return Ok(rendered.clone());
        }
        let rendered = prepared(JSON, write(&areas, basemap).map_err(Problem::internal)?).await?;
        *known = Some((areas, rendered.clone()));
        Ok(rendered)
    }
}

/// The identifiers and names of areas, by the name of the larger area.
type Parents<'a> = BTreeMap<&'a str, Vec<(String, &'a str)>>;

/// Names in this order are in that of their numbers: `RW 9` before `RW 10`.
fn numbered(name: &str) -> (String, u64) {
    let (digits, rest): (String, String) = name.chars().partition(char::is_ascii_digit);
    (rest, digits.parse().unwrap_or_default())
}

fn write(areas: &AreaSet, basemap: &Basemap) -> serde_json::Result<Vec<u8>> {
    let mut cities: BTreeMap<&str, Parents<'_>> = BTreeMap::new();
    for area in areas {
        let city = cities.entry(&area.city_name).or_default();
        let parent = city.entry(&area.parent_name).or_default();
        parent.push((area.id.to_string(), &area.name));
    }
    for areas in cities.values_mut().flat_map(BTreeMap::values_mut) {
        areas.sort_by_cached_key(|(_, name)| numbered(name));
    }
    let lists: Vec<_> =
        cities.into_iter().map(|(city, of)| (city, of.into_iter().collect::<Vec<_>>())).collect();
    // Four decimals are 11 m.
    let short = |degrees: f64| (degrees * 1e4).round() / 1e4;
    let places = basemap.places().map(|(name, at)| (name, short(at.coord().x), short(at.coord().y)));
    serde_json::to_vec(&json!({ "cities": lists, "places": places.collect::<Vec<_>>() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_in_the_order_of_their_numbers() {
        let mut names = ["RW 10", "TMII", "RW 09", "RW 1"];
        names.sort_by_cached_key(|name| numbered(name));
        assert_eq!(names, ["RW 1", "RW 09", "RW 10", "TMII"]);
    }
}
