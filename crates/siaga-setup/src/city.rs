//! A city: what a data folder has about it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::basemap;
use crate::boundaries::{Boundary, fold};
use crate::features::{feature, multi_polygon};
use crate::place::{Extent, Place};
use crate::survey::Survey;
use crate::{Options, SetupError};

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
    /// The name of an area, as an example of what one searches for.
    pub(crate) example: Option<String>,
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

impl City {
    /// Describes the areas of a place, each with its region, and reads the base map around them.
    pub(crate) fn new<'b>(
        survey: &Survey,
        place: &Place<'_>,
        areas: impl Iterator<Item = (&'b Boundary, Option<&'b Boundary>)>,
        options: &Options,
        name: &str,
        language: &str,
    ) -> Result<Self, SetupError> {
        let boundaries = &survey.boundaries;
        let level = options.level.unwrap_or_default();
        let mut city =
            Self { name: name.to_owned(), code: code(name), is_openstreetmap: true, ..Self::default() };
        let mut codes: BTreeMap<String, Option<&Boundary>> = BTreeMap::new();
        let larger: Vec<_> =
            boundaries.iter().filter(|larger| Some(larger.level) == options.larger_area_level).collect();
        for (area, region) in areas {
            let Some(outline) = area.closed() else { continue };
            let region = if options.region_code.is_some() { None } else { region };
            let region_code =
                region.and_then(Boundary::code).or(options.region_code.as_deref()).unwrap_or_default();
            let larger = larger.iter().find(|larger| larger.is_around(area));
            city.example.get_or_insert_with(|| area.name_in(language).to_owned());
            let properties = json!({
                "area_id": area.id,
                "area_name": area.name_in(language),
                "parent_name": larger.map_or(name, |larger| larger.name_in(language)),
                "city_name": name,
                "city": city.code,
                "instance_region_code": region_code,
            });
            city.areas.push(feature(properties, multi_polygon(&outline.shape)));
            codes.entry(region_code.to_owned()).or_insert(region);
        }
        let region = |(code, boundary): (String, Option<&Boundary>)| Region {
            name: boundary.map_or(code.clone(), |boundary| boundary.name_in(language).to_owned()),
            geometry: boundary.and_then(Boundary::closed).map(|outline| multi_polygon(&outline.shape)),
            code,
        };
        city.regions = codes.into_iter().map(region).collect();
        if let Extent::Outline(outline) = &place.extent {
            city.boundary = Some(multi_polygon(&outline.shape));
        }
        city.notes.extend(place.notes.iter().cloned().chain(place.left_out(level, boundaries)));
        if let Some(bounds) = place.bounds() {
            let drawn = basemap::read(survey, bounds, language)?;
            city.notes.extend(drawn.notes);
            (city.waterways, city.basemap) = (drawn.waterways, drawn.features);
        }
        Ok(city)
    }
}

/// Returns the region of each area: the smallest boundary around it with a code of ISO 3166-2, or else its country.
pub(crate) fn regions<'b>(areas: &[&Boundary], boundaries: &'b [Boundary]) -> Vec<Option<&'b Boundary>> {
    let coded: Vec<_> = boundaries.iter().filter(|boundary| boundary.code().is_some()).collect();
    let region = |area: &&Boundary| {
        let around = coded.iter().copied().filter(|region| region.is_around(area));
        around.max_by_key(|region| (region.region_code.is_some(), region.level))
    };
    areas.iter().map(region).collect()
}

pub(crate) fn is_region_code(text: &str) -> bool {
    (2..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns a code for requests: the first 16 letters and digits of a name, without accents.
pub(crate) fn code(name: &str) -> String {
    let code: String = fold(name).chars().filter(char::is_ascii_alphanumeric).take(16).collect();
    if code.is_empty() { "city".to_owned() } else { code }
}
