//! Finds areas that people can choose as the location of a report: by lists, or by their identifier.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::form_data::FormData;
use super::form_report::coordinates;
use super::form_request::FormRequest;
use crate::http::error::Problem;
use crate::model::{AreaSet, Position};

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

/// Returns a place in an area for its label; `None` if there is no such area, or it has no geometry.
pub(super) fn find(areas: &AreaSet, id: &str) -> Option<Position> {
    let [lng, lat] = areas.label(areas.position(id.parse().ok()?)?)?;
    Position::new(lng, lat)
}

impl FormRequest<'_> {
    /// Fills in the place of the address, unless the form has one: coordinates, or an area. Ignores a place that does not exist, so that
    /// people can still report.
    pub(super) fn fill_in_place(&self, form: &mut FormData, areas: &AreaSet) -> Result<(), Problem> {
        if ["lat", "area", "city"].iter().any(|name| form.raw(name).is_some()) {
            return Ok(());
        }
        let [area, lat, lng] = ["area", "lat", "lng"].map(|name| self.text(name));
        let area = area?.and_then(|id| areas.find(id.parse().ok()?));
        let place = match (area, lat?.zip(lng?)) {
            (Some(area), _) => find(areas, &area.id.to_string()),
            (None, Some((lat, lng))) => coordinates(&lng, &lat),
            (None, None) => None,
        };
        if let Some(place) = place {
            form.set("lat", &place.coord().y.to_string());
            form.set("lng", &place.coord().x.to_string());
        }
        if let Some(area) = area {
            form.set("area", &area.id.to_string());
            form.set("city", &area.city_name);
            form.set("parent", &area.parent_name);
            return Ok(());
        }
        for name in ["city", "parent"] {
            if let Some(text) = self.text(name)? {
                form.set(name, &text);
            }
        }
        Ok(())
    }
}
