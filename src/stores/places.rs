use std::sync::Arc;

use super::InfrastructureQuery;
use crate::model::{
    AreaSelector, AreaSet, BoundaryLayer, Infrastructure, InfrastructureLayer, Locator, Position, Region,
    Tags,
};

/// What is on the map whether it floods or not: areas, provinces and infrastructure.
#[derive(Debug)]
pub(super) struct Places {
    areas: Arc<AreaSet>,
    /// By code.
    regions: Vec<Arc<Region>>,
    /// By kind, then by name.
    infrastructure: Vec<Arc<Infrastructure>>,
    locator: Locator,
}

impl Places {
    /// `regions` and `cities` must be in the order of their codes.
    pub(super) fn new(
        areas: Arc<AreaSet>,
        regions: Vec<Arc<Region>>,
        cities: Vec<Arc<Region>>,
        mut infrastructure: Vec<Infrastructure>,
    ) -> Self {
        let locator = Locator::new(Arc::clone(&areas), regions.clone(), cities);
        infrastructure.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        for of in &mut infrastructure {
            of.tags.city = locator.city_at(of.shape.beginning()).map(Box::from);
        }
        Self { locator, infrastructure: infrastructure.into_iter().map(Arc::new).collect(), regions, areas }
    }

    pub(super) fn areas(&self) -> &Arc<AreaSet> {
        &self.areas
    }

    /// Where a place lies.
    pub(super) fn locate(&self, place: Position) -> Tags {
        self.locator.locate(place)
    }

    /// Whether what lies where the tags say is among the selected.
    pub(super) fn selects(&self, selector: &AreaSelector, tags: &Tags) -> bool {
        selector.is_everything() || {
            selector.matches_codes(self.locator.city(tags), tags.instance_region_code.as_deref())
        }
    }

    pub(super) fn infrastructure(&self, query: &InfrastructureQuery) -> InfrastructureLayer {
        let asked = self.infrastructure.iter().filter(|of| {
            query.kind.is_none_or(|kind| kind == of.kind) && self.selects(&query.selector, &of.tags)
        });
        InfrastructureLayer(asked.cloned().collect())
    }

    pub(super) fn boundaries(&self, code: Option<&str>) -> BoundaryLayer {
        let asked = self.regions.iter().filter(|region| code.is_none_or(|code| code == region.code));
        BoundaryLayer(asked.cloned().collect())
    }
}
