use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{LayerKind, Regions};
use crate::schema::resources::{SelectableCodes, describe};

/// Cities and provinces that clients can select in addition to the cities and provinces of the loaded areas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Areas {
    /// City codes. **Default: `bdg`, `jbd`, `sby`**
    pub cities: Vec<String>,
    /// Province codes (ISO 3166-2). **Default: the 38 of Indonesia**
    pub provinces: Vec<String>,
    #[serde(skip)]
    selectable: BTreeMap<LayerKind, SelectableCodes>,
}

impl Default for Areas {
    fn default() -> Self {
        let regions = Regions::default();
        let mut areas = Self {
            cities: regions.cities.clone(),
            provinces: regions.provinces.clone(),
            selectable: BTreeMap::new(),
        };
        areas.update_selectable(regions);
        areas
    }
}

impl Areas {
    #[must_use]
    pub(crate) fn selectable(&self, kind: LayerKind) -> &SelectableCodes {
        &self.selectable[&kind]
    }

    /// Sets the cities and the provinces to the country's, unless they are configured.
    pub(super) fn apply_country(&mut self, country: &Regions, is_set: impl Fn(&str) -> bool) {
        let mut regions = country.clone();
        if is_set("areas.cities") {
            regions.cities.clone_from(&self.cities);
            regions.configured.clone_from(&self.cities);
        }
        if is_set("areas.provinces") {
            regions.provinces.clone_from(&self.provinces);
            regions.mapped.clone_from(&self.provinces);
        }
        (self.cities, self.provinces) = (regions.cities.clone(), regions.provinces.clone());
        self.update_selectable(regions);
    }

    fn update_selectable(&mut self, regions: Regions) {
        self.selectable =
            LayerKind::ALL.into_iter().map(|kind| (kind, (describe(kind).selectable)(&regions))).collect();
    }
}
