//! The index of area and place names, for the search on the page.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocket::tokio::sync::Mutex;
use serde_json::json;

use crate::data::country::Country;
use crate::http::error::Problem;
use crate::model::AreaSet;
use crate::rendering::basemap::Basemap;
use crate::rendering::cache::RenderedResponse;
use crate::rendering::{JSON, precompress};

/// The last index, and the areas from which it was made.
#[derive(Debug, Default)]
pub(crate) struct NameIndex(Mutex<Option<(Arc<AreaSet>, RenderedResponse)>>);

impl NameIndex {
    /// Returns the index: `cities` as `[[city,[[parent,[[id,name]]]]]]`, sorted by name and number, `places` with longitude
    /// and latitude, and the abbreviations of names. Built once for each set of areas.
    pub(super) async fn index(
        &self,
        areas: Arc<AreaSet>,
        basemap: &Basemap,
        country: &Country,
    ) -> Result<RenderedResponse, Problem> {
        let mut cached = self.0.lock().await;
        if let Some((indexed, rendered)) = &*cached
            && Arc::ptr_eq(indexed, &areas)
        {
            return Ok(rendered.clone());
        }
        let rendered = precompress(JSON, write(&areas, basemap, country).map_err(Problem::internal)?).await?;
        *cached = Some((areas, rendered.clone()));
        Ok(rendered)
    }
}

/// Identifiers and names of areas by parent.
type Parents<'a> = BTreeMap<&'a str, Vec<(String, &'a str)>>;

/// Returns a key that sorts names in natural order: `RW 9` before `RW 10`.
fn natural_key(name: &str) -> (String, u64) {
    let (digits, rest): (String, String) = name.chars().partition(char::is_ascii_digit);
    (rest, digits.parse().unwrap_or_default())
}

/// Writes areas by city and parent, in natural order of names, the named places of the base map, and the abbreviations.
fn write(areas: &AreaSet, basemap: &Basemap, country: &Country) -> serde_json::Result<Vec<u8>> {
    let mut cities: BTreeMap<&str, Parents<'_>> = BTreeMap::new();
    for area in areas {
        let city = cities.entry(&area.city_name).or_default();
        let parent = city.entry(&area.parent_name).or_default();
        parent.push((area.id.to_string(), &area.name));
    }
    for areas in cities.values_mut().flat_map(BTreeMap::values_mut) {
        areas.sort_by_cached_key(|(_, name)| natural_key(name));
    }
    let lists: Vec<_> =
        cities.into_iter().map(|(city, parents)| (city, parents.into_iter().collect::<Vec<_>>())).collect();
    // Four decimals suffice: the fourth is about 11 m.
    let short = |degrees: f64| (degrees * 1e4).round() / 1e4;
    let places = basemap.places().map(|(name, at)| (name, short(at.coord().x), short(at.coord().y)));
    serde_json::to_vec(
        &json!({ "cities": lists, "places": places.collect::<Vec<_>>(), "short": country.abbreviations() }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_in_natural_order() {
        let mut names = ["RW 10", "TMII", "RW 09", "RW 1"];
        names.sort_by_cached_key(|name| natural_key(name));
        assert_eq!(names, ["RW 1", "RW 09", "RW 10", "TMII"]);
    }
}
