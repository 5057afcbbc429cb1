use std::sync::Arc;

use geo::{InteriorPoint, Intersects, MultiPolygon};

use super::{Outline, Places, Position, Region};

/// A city with its boundary and a unique identifier.
#[derive(Clone, Debug, PartialEq)]
pub struct City {
    /// The code of the city if its boundary is in the data set. Otherwise province code, city code and name, joined by `/`,
    /// because cities can share a code.
    pub id: String,
    /// The name; may be empty.
    pub name: String,
    /// The name of the province, or its code if the name is unknown; may be empty.
    pub province: String,
    /// The boundary in WGS84 degrees.
    pub surface: MultiPolygon<f64>,
}

impl City {
    /// Creates a city with its own boundary. Its province is the province that contains a point inside the city.
    pub(super) fn with_boundary(city: &Region, places: &Places) -> Self {
        let inside = city.outline.interior_point().and_then(|inside| Position::new(inside.x(), inside.y()));
        let code = inside.and_then(|inside| places.locator().locate(inside).instance_region_code);
        Self {
            id: city.code.clone(),
            name: city.name.clone(),
            province: name_of(code.as_deref().unwrap_or_default(), places.regions()),
            surface: city.outline.clone(),
        }
    }

    /// Creates a city from `outline`, the union of its areas.
    pub(super) fn from_areas(outline: &Outline, regions: &[Arc<Region>]) -> Self {
        let Outline { city_name, city_code, region_code, surface, .. } = outline;
        let parts = [region_code, city_code, city_name].into_iter().filter(|part| !part.is_empty());
        Self {
            id: parts.map(String::as_str).collect::<Vec<_>>().join("/"),
            name: city_name.clone(),
            province: name_of(region_code, regions),
            surface: surface.clone(),
        }
    }
}

fn name_of(code: &str, regions: &[Arc<Region>]) -> String {
    let region = regions.iter().find(|region| region.code == code);
    region.map_or_else(|| code.to_owned(), |region| region.name.clone())
}

impl Region {
    /// Returns whether a place lies within the boundary or on it. Costs O(positions).
    #[must_use]
    pub fn contains(&self, place: Position) -> bool {
        self.outline.intersects(&place.coord())
    }
}
