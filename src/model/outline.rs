use std::collections::BTreeMap;

use geo::{Coord, InteriorPoint, MultiPolygon};

use super::topology::{dissolved, simplified};
use super::{Area, AreaSet, Geometry};

/// The level of the requested outlines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AreaLevel {
    /// The local areas.
    #[default]
    Area,
    /// The larger areas that contain local areas: one for each `parent_name` within a city.
    Parent,
    /// The cities: one for each `city_name`.
    City,
}

impl AreaLevel {
    /// All levels, smallest first.
    pub const ALL: [Self; 3] = [Self::Area, Self::Parent, Self::City];

    /// Returns the name in addresses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Area => "area",
            Self::Parent => "parent",
            Self::City => "city",
        }
    }
}

impl AsRef<str> for AreaLevel {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

/// The union of local areas, without the borders between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The name of the larger area; `None` for a city.
    pub parent_name: Option<String>,
    /// The name of the city; may be empty.
    pub city_name: String,
    /// The code of the city; may be empty. Requests select outlines by this code.
    pub city_code: String,
    /// The code of the province; may be empty.
    pub region_code: String,
    /// The number of local areas.
    pub areas: usize,
    /// The surface in WGS84 degrees, outer rings counter-clockwise.
    pub surface: MultiPolygon<f64>,
    /// A place inside the surface for its label, rounded to about 1 m; `None` for an empty surface.
    pub label: Option<[f64; 2]>,
}

/// Identifies the areas of an outline: province, city code, city name, name of the larger area.
type Group<'a> = (&'a str, &'a str, &'a str, Option<&'a str>);

impl Outline {
    /// Merges the areas of a set into the outlines of a level, ordered by province, city and larger area. Returns none for
    /// [`AreaLevel::Area`]. Borders are simplified: they move by at most 11 m (larger areas) or 70 m (cities), and neighbours
    /// still meet. Outlines are valid even if areas overlap, and have 5 decimals. Costs O(positions · log positions).
    pub(super) fn dissolve(areas: &AreaSet, level: AreaLevel) -> Vec<Self> {
        let tolerance = match level {
            AreaLevel::Area => return Vec::new(),
            AreaLevel::Parent => 9e-5,
            AreaLevel::City => 6e-4,
        };
        let mut sizes: BTreeMap<Group<'_>, usize> = BTreeMap::new();
        for area in areas {
            *sizes.entry(group(area, level)).or_default() += 1;
        }
        let numbers: BTreeMap<_, _> = sizes.keys().zip(0..).collect();
        let groups: Vec<usize> = areas.iter().map(|area| numbers[&group(area, level)]).collect();
        let geometries: Vec<_> = areas.iter().map(Area::geometry).collect();
        let dissolved = dissolved(&geometries, &groups, sizes.len());
        let surfaces: Vec<_> = dissolved.iter().map(Geometry::surface).collect();
        let simple = simplified(&surfaces, tolerance);
        let outlines = sizes.into_iter().zip(simple);
        let outline = |((group, areas), surface): ((Group<'_>, usize), _)| {
            let (region_code, city_code, city_name, parent_name) = group;
            Self {
                parent_name: parent_name.map(str::to_owned),
                city_name: city_name.to_owned(),
                city_code: city_code.to_owned(),
                region_code: region_code.to_owned(),
                areas,
                label: label(&surface),
                surface,
            }
        };
        outlines.map(outline).collect()
    }
}

fn group(area: &Area, level: AreaLevel) -> Group<'_> {
    let parent = (level == AreaLevel::Parent).then_some(area.parent_name.as_str());
    (&area.region_code, &area.city_code, &area.city_name, parent)
}

/// Returns a position inside a surface for its label, rounded to about 1 m; `None` for an empty surface. Costs O(positions).
pub(crate) fn label(surface: &MultiPolygon<f64>) -> Option<[f64; 2]> {
    let Coord { x, y } = surface.interior_point()?.0;
    let round = |degrees: f64| (degrees * 1e5).round() / 1e5;
    Some([round(x), round(y)])
}
