use std::sync::{Arc, OnceLock};

use super::{
    AreaLayer, AreaLevel, AreaOutline, AreaSelector, AreaSet, BoundaryLayer, City, Infrastructure,
    InfrastructureKind, InfrastructureLayer, Locator, Outline, PlaceNames, Position, Region, Tags, topology,
};

/// The read-only map data: areas, provinces, cities and infrastructure. Locates places ([`Locator`]) and creates layers. Layers
/// share the geometry of the map data. Creating a layer costs O(places of its kind).
#[derive(Debug)]
pub struct Places {
    areas: Arc<AreaSet>,
    regions: Vec<Arc<Region>>,
    cities: Vec<Arc<Region>>,
    infrastructure: Vec<Arc<Infrastructure>>,
    locator: Locator,
    outlines: [OnceLock<Vec<Arc<Outline>>>; AreaLevel::ALL.len()],
    city_outlines: OnceLock<Vec<Arc<City>>>,
}

impl Default for Places {
    fn default() -> Self {
        Self::new(Arc::default(), Vec::new(), Vec::new())
    }
}

impl Places {
    /// Indexes local areas, provinces, and cities with their own boundary. Any other city has the union of its areas as outline.
    #[must_use]
    pub fn new(areas: Arc<AreaSet>, mut regions: Vec<Arc<Region>>, mut cities: Vec<Arc<Region>>) -> Self {
        regions.sort_by(|a, b| a.code.cmp(&b.code));
        cities.sort_by(|a, b| a.code.cmp(&b.code));
        let locator = Locator::new(Arc::clone(&areas), regions.clone(), cities.clone());
        let outlines = Default::default();
        let city_outlines = OnceLock::new();
        Self { areas, regions, cities, infrastructure: Vec::new(), locator, outlines, city_outlines }
    }

    /// Sets the floodgates, pumps and waterways.
    #[must_use]
    pub fn with_infrastructure(self, mut infrastructure: Vec<Infrastructure>) -> Self {
        Infrastructure::identify(&mut infrastructure);
        for piece in &mut infrastructure {
            piece.tags.city = self.locator.city_at(piece.shape.beginning()).map(Box::from);
            piece.tags.district_id = self.locator.district(piece.tags.local_area_id);
        }
        Self { infrastructure: infrastructure.into_iter().map(Arc::new).collect(), ..self }
    }

    /// Returns the local areas.
    #[must_use]
    pub fn areas(&self) -> &Arc<AreaSet> {
        &self.areas
    }

    /// Returns the names and codes of a report with these tags: province and city of the tags, and the names of its area.
    #[must_use]
    pub fn names<'t>(&'t self, tags: &'t Tags) -> PlaceNames<'t> {
        let area = tags.local_area_id.and_then(|area| self.areas.find(area));
        PlaceNames {
            province: tags.instance_region_code.as_deref(),
            city: self.locator.city(tags),
            ..area.map(PlaceNames::from).unwrap_or_default()
        }
    }

    /// Returns the provinces, ordered by code.
    #[must_use]
    pub fn regions(&self) -> &[Arc<Region>] {
        &self.regions
    }

    /// Returns the cities with their own boundary, ordered by code.
    #[must_use]
    pub fn cities(&self) -> &[Arc<Region>] {
        &self.cities
    }

    /// Returns the floodgates, pumps and waterways, ordered by kind and name.
    #[must_use]
    pub fn infrastructure(&self) -> &[Arc<Infrastructure>] {
        &self.infrastructure
    }

    #[must_use]
    pub(crate) fn bounds(&self) -> Option<[f64; 4]> {
        self.areas.around(&AreaSelector::default()).map(topology::bbox)
    }

    /// Returns the locator of places.
    #[must_use]
    pub fn locator(&self) -> &Locator {
        &self.locator
    }

    /// Returns whether a place lies in an area, city or province. Without any of these, accepts every place except 0, 0.
    #[must_use]
    pub(crate) fn covers(&self, place: Position) -> bool {
        if self.areas.is_empty() && self.cities.is_empty() && self.regions.is_empty() {
            return !place.is_origin();
        }
        let Tags { local_area_id, instance_region_code, city, .. } = self.locator.locate(place);
        local_area_id.is_some() || instance_region_code.is_some() || city.is_some()
    }

    #[must_use]
    pub(crate) fn selects(&self, selector: &AreaSelector, tags: &Tags) -> bool {
        selector.is_everything() || {
            selector.matches_codes(self.locator.city(tags), tags.instance_region_code.as_deref())
        }
    }

    /// Returns the selected infrastructure, optionally of one kind, ordered by kind and name.
    #[must_use]
    pub fn infrastructure_layer(
        &self,
        selector: &AreaSelector,
        kind: Option<InfrastructureKind>,
    ) -> InfrastructureLayer {
        let selected = self.infrastructure.iter().filter(|piece| {
            kind.is_none_or(|kind| kind == piece.kind) && self.selects(selector, &piece.tags)
        });
        InfrastructureLayer(selected.cloned().collect())
    }

    /// Returns the outlines of the selected areas of a level: local areas ordered by `area_id`, others by province, city and
    /// name. The first call for a level merges the areas in O(positions · log positions), and caches the outlines.
    #[must_use]
    pub fn area_layer(&self, selector: &AreaSelector, level: AreaLevel) -> AreaLayer {
        let outlines = if level == AreaLevel::Area {
            let selected = self.areas.selected(selector);
            let positions = selected.unwrap_or_else(|| (0..self.areas.len()).collect());
            positions.into_iter().map(AreaOutline::Area).collect()
        } else {
            let unions = self.dissolved(level);
            let is_selected = |outline: &&Arc<Outline>| {
                selector.matches_codes(Some(&outline.city_code), Some(&outline.region_code))
            };
            unions.iter().filter(is_selected).cloned().map(AreaOutline::Union).collect()
        };
        AreaLayer::new(Arc::clone(&self.areas), outlines)
    }

    fn dissolved(&self, level: AreaLevel) -> &[Arc<Outline>] {
        let dissolve = || Outline::dissolve(&self.areas, level).into_iter().map(Arc::new).collect();
        self.outlines[level as usize].get_or_init(dissolve)
    }

    /// Returns the cities: first the cities with their own boundary, ordered by code, then the others. The first call costs as
    /// much as [`Self::area_layer`].
    #[must_use]
    pub(crate) fn city_outlines(&self) -> &[Arc<City>] {
        self.city_outlines.get_or_init(|| {
            let own = self.cities.iter().map(|city| City::with_boundary(city, self));
            let is_other = |outline: &&Arc<Outline>| {
                let is_named = !outline.city_code.is_empty() || !outline.city_name.is_empty();
                is_named && self.cities.iter().all(|city| city.code != outline.city_code)
            };
            let others = self.dissolved(AreaLevel::City).iter().filter(is_other);
            own.chain(others.map(|outline| City::from_areas(outline, &self.regions))).map(Arc::new).collect()
        })
    }

    #[must_use]
    pub(crate) fn city_layer(&self, id: Option<&str>) -> AreaLayer {
        let selected = self.city_outlines().iter().filter(|city| id.is_none_or(|id| id == city.id));
        AreaLayer::new(Arc::clone(&self.areas), selected.cloned().map(AreaOutline::City).collect())
    }

    /// Returns the boundaries of all provinces, ordered by code, or only of the province with this code, if it exists.
    #[must_use]
    pub fn boundary_layer(&self, code: Option<&str>) -> BoundaryLayer {
        let selected = self.regions.iter().filter(|region| code.is_none_or(|code| code == region.code));
        BoundaryLayer(selected.cloned().collect())
    }
}
