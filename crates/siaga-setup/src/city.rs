//! A city: what a data folder has about it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::SetupError;
use crate::basemap;
use crate::boundaries::{Boundary, fold};
use crate::features::{feature, multi_polygon};
use crate::place::{Extent, Place, around};
use crate::survey::Survey;

pub(crate) struct Region {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) geometry: Option<Value>,
}

#[derive(Default)]
pub(crate) struct City {
    pub(crate) name: String,
    pub(crate) code: String,
    /// Features of the data folder.
    pub(crate) areas: Vec<String>,
    /// `None` if the city consists of its areas.
    pub(crate) boundary: Option<Value>,
    pub(crate) regions: Vec<Region>,
    pub(crate) waterways: Vec<String>,
    /// Features of the base map.
    pub(crate) basemap: Vec<String>,
    /// Whether the data is OpenStreetMap's, whose licence asks for attribution.
    pub(crate) is_openstreetmap: bool,
    /// What the operator should know.
    pub(crate) notes: Vec<String>,
}

/// What was chosen in an extract.
pub(crate) struct Choice<'c> {
    pub(crate) name: String,
    pub(crate) level: u8,
    pub(crate) larger_level: Option<u8>,
    pub(crate) language: &'c str,
    /// The region of all areas, if it is chosen.
    pub(crate) region: Option<&'c str>,
}

impl City {
    /// Takes the areas of a level in a place, and reads the base map around them.
    pub(crate) fn new(survey: &Survey, place: &Place<'_>, choice: &Choice<'_>) -> Result<Self, SetupError> {
        let boundaries = &survey.boundaries;
        let (areas, left_out) = place.areas(choice.level, boundaries)?;
        let mut regions: BTreeMap<String, Region> = BTreeMap::new();
        let mut city = Self { code: code(&choice.name), is_openstreetmap: true, ..Self::default() };
        for area in areas {
            let Some(outline) = area.closed() else { continue };
            let region = match choice.region {
                Some(code) => Region { code: code.to_owned(), name: code.to_owned(), geometry: None },
                None => region(area, boundaries, choice.language)
                    .ok_or_else(|| SetupError::Missing(vec!["--region-code CODE".to_owned()]))?,
            };
            let larger = around(area, boundaries).find(|larger| Some(larger.level) == choice.larger_level);
            let properties = json!({
                "area_id": area.id,
                "area_name": area.name_in(choice.language),
                "parent_name": larger.map_or(&*choice.name, |larger| larger.name_in(choice.language)),
                "city_name": choice.name,
                "city": city.code,
                "instance_region_code": region.code,
            });
            city.areas.push(feature(properties, multi_polygon(&outline.shape)));
            regions.entry(region.code.clone()).or_insert(region);
        }
        let drawn = place.bounds().map(|bounds| basemap::read(survey, bounds)).transpose()?;
        city.boundary = match &place.extent {
            Extent::Outline(outline) => Some(multi_polygon(&outline.shape)),
            _ => None,
        };
        city.notes.extend(place.notes.iter().cloned().chain(left_out));
        if let Some(drawn) = drawn {
            city.notes.extend(drawn.notes);
            (city.waterways, city.basemap) = (drawn.waterways, drawn.features);
        }
        Ok(Self { name: choice.name.clone(), regions: regions.into_values().collect(), ..city })
    }
}

/// Returns the region of an area: the smallest one around it with a code of ISO 3166-2, or else its country.
pub(crate) fn region(area: &Boundary, boundaries: &[Boundary], language: &str) -> Option<Region> {
    let with_code = |code: fn(&Boundary) -> Option<&String>| {
        let found = around(area, boundaries).filter(|around| code(around).is_some());
        let smallest = found.max_by_key(|around| around.level)?;
        Some(Region {
            code: code(smallest)?.clone(),
            name: smallest.name_in(language).to_owned(),
            geometry: smallest.closed().map(|outline| multi_polygon(&outline.shape)),
        })
    };
    with_code(|around| around.region_code.as_ref())
        .or_else(|| with_code(|around| around.country_code.as_ref()))
}

/// Returns a code for requests: the first 16 letters and digits of a name, without accents.
pub(crate) fn code(name: &str) -> String {
    let code: String = fold(name).chars().filter(char::is_ascii_alphanumeric).take(16).collect();
    if code.is_empty() { "city".to_owned() } else { code }
}
