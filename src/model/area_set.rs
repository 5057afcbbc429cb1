use std::collections::BTreeMap;
use std::ops::Index;
use std::sync::OnceLock;

use geo::{Intersects, Rect};

use super::{Area, AreaId, AreaSelector, BoundingBox, label, readable, union_rect};

/// All areas that a store serves, ordered by identifier. The *position* of an area is its index in this order. The set is
/// immutable and shared by reference, so a response with all areas does not copy them.
#[derive(Debug, Default)]
pub struct AreaSet {
    areas: Vec<Area>,
    /// The bounding box of each area, to find the areas in a part of the map without reading their coordinates.
    bounds: Vec<Option<Rect<f64>>>,
    labels: Vec<OnceLock<Option<[f64; 2]>>>,
    around: Option<Rect<f64>>,
    around_each: BTreeMap<String, Rect<f64>>,
    /// The positions of the areas by city code and province code, computed on first use.
    codes: OnceLock<BTreeMap<(String, String), Vec<usize>>>,
    city_names: OnceLock<BTreeMap<String, String>>,
}

/// Error for two areas of a set with the same identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("area_id {0} occurs more than once")]
pub struct DuplicateArea(pub AreaId);

impl AreaSet {
    /// Creates a set, and sorts the areas.
    ///
    /// # Errors
    ///
    /// If two areas have the same identifier.
    pub fn new(mut areas: Vec<Area>) -> Result<Self, DuplicateArea> {
        areas.sort_by_key(|area| area.id);
        match areas.windows(2).find(|pair| pair[0].id == pair[1].id) {
            Some(pair) => Err(DuplicateArea(pair[0].id)),
            None => Ok(Self::from_sorted(areas)),
        }
    }

    fn from_sorted(areas: Vec<Area>) -> Self {
        let bounds: Vec<_> = areas.iter().map(|area| area.geometry().bounds()).collect();
        let labels = areas.iter().map(|_| OnceLock::new()).collect();
        let around = bounds.iter().copied().flatten().reduce(union_rect);
        let mut around_each: BTreeMap<String, Rect<f64>> = BTreeMap::new();
        for (area, own) in areas.iter().zip(&bounds) {
            for code in [&area.city_code, &area.region_code] {
                match (around_each.get_mut(code), own) {
                    (_, None) => {}
                    (Some(known), Some(own)) => *known = union_rect(*known, *own),
                    (None, Some(own)) => drop(around_each.insert(code.clone(), *own)),
                }
            }
        }
        Self {
            areas,
            bounds,
            labels,
            around,
            around_each,
            codes: OnceLock::new(),
            city_names: OnceLock::new(),
        }
    }

    /// Returns a place inside the area at `position` for its label, rounded to about 1 m; `None` if the area has no surface.
    /// Costs O(coordinates of the area) on first use, then O(1).
    /// Panics if the position is out of range.
    #[must_use]
    pub fn label(&self, position: usize) -> Option<[f64; 2]> {
        *self.labels[position].get_or_init(|| label(&self.areas[position].outline))
    }

    /// Returns a box around all selected areas in O(log n). For a city in a province, it is the box of the whole city.
    #[must_use]
    pub(crate) fn around(&self, selector: &AreaSelector) -> Option<Rect<f64>> {
        match selector.city.as_ref().or(selector.region.as_ref()) {
            Some(code) => self.around_each.get(code).copied(),
            None => self.around,
        }
    }

    /// Returns whether an area touches `bbox`. Costs O(1), or O(coordinates of the area) if its bounding box touches `bbox`.
    #[must_use]
    pub(crate) fn touches(&self, position: usize, bbox: &BoundingBox) -> bool {
        bbox.touches_inside(self.areas[position].geometry(), self.bounds[position])
    }

    /// Returns the position of an area in O(log n).
    #[must_use]
    pub fn position(&self, id: AreaId) -> Option<usize> {
        self.areas.binary_search_by_key(&id, |area| area.id).ok()
    }

    /// Returns an area in O(log n).
    #[must_use]
    pub fn find(&self, id: AreaId) -> Option<&Area> {
        self.position(id).map(|position| &self.areas[position])
    }

    /// Returns the distinct pairs of city code and province code. Either code may be empty. Costs O(n log n) on first use.
    pub(crate) fn codes(&self) -> impl Iterator<Item = &(String, String)> {
        self.by_codes().keys()
    }

    fn by_codes(&self) -> &BTreeMap<(String, String), Vec<usize>> {
        self.codes.get_or_init(|| {
            let mut all: BTreeMap<_, Vec<usize>> = BTreeMap::new();
            for (position, area) in self.areas.iter().enumerate() {
                all.entry((&*area.city_code, &*area.region_code)).or_default().push(position);
            }
            let owned = |((city, region), positions): ((&str, &str), _)| {
                ((city.to_owned(), region.to_owned()), positions)
            };
            all.into_iter().map(owned).collect()
        })
    }

    fn selected_positions(&self, selector: &AreaSelector) -> impl Iterator<Item = &[usize]> {
        let all = self.by_codes().iter();
        all.filter(|((city, region), _)| selector.matches_codes(Some(city), Some(region)))
            .map(|(_, positions)| positions.as_slice())
    }

    #[must_use]
    pub(crate) fn has_city(&self, code: &str) -> bool {
        self.codes().any(|(city, _)| city == code)
    }

    /// Returns the number of selected areas. Costs O(cities), and O(n log n) on first use.
    #[must_use]
    pub(crate) fn count(&self, selector: &AreaSelector) -> usize {
        self.selected_positions(selector).map(<[_]>::len).sum()
    }

    /// Returns the positions of the selected areas, ascending; `None` means all areas. Costs O(cities + selected areas), and
    /// O(n log n) on first use.
    #[must_use]
    pub(crate) fn selected(&self, selector: &AreaSelector) -> Option<Vec<usize>> {
        if selector.is_everything() {
            return None;
        }
        let mut positions = self.selected_positions(selector).collect::<Vec<_>>().concat();
        positions.sort_unstable();
        Some(positions)
    }

    /// Returns the positions of the areas whose bounding box intersects a rectangle. Costs O(n).
    pub(crate) fn near(&self, bbox: Rect<f64>) -> impl Iterator<Item = usize> {
        let meets = move |bounds: &Option<Rect<f64>>| bounds.is_some_and(|bounds| bounds.intersects(&bbox));
        (0..self.bounds.len()).filter(move |position| meets(&self.bounds[*position]))
    }

    #[must_use]
    pub(crate) fn bounds(&self, position: usize) -> Option<Rect<f64>> {
        self.bounds[position]
    }

    /// Returns the display names of the cities by code. Costs O(n log n) on first use.
    #[must_use]
    pub(crate) fn city_names(&self) -> &BTreeMap<String, String> {
        self.city_names.get_or_init(|| {
            let cities: BTreeMap<_, _> =
                self.areas.iter().map(|area| (&*area.city_code, &*area.city_name)).collect();
            let named = cities.into_iter().filter(|(code, _)| !code.is_empty());
            named.map(|(code, name)| (code.to_owned(), readable(name))).collect()
        })
    }

    /// Returns the areas ordered by identifier.
    pub fn iter(&self) -> std::slice::Iter<'_, Area> {
        self.areas.iter()
    }

    /// Returns the number of areas.
    #[must_use]
    pub fn len(&self) -> usize {
        self.areas.len()
    }

    /// Returns whether there are no areas.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }
}

impl From<Area> for AreaSet {
    fn from(area: Area) -> Self {
        Self::from_sorted(vec![area])
    }
}

impl<'a> IntoIterator for &'a AreaSet {
    type Item = &'a Area;
    type IntoIter = std::slice::Iter<'a, Area>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Index<usize> for AreaSet {
    type Output = Area;

    fn index(&self, position: usize) -> &Area {
        &self.areas[position]
    }
}
