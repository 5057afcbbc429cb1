use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ByResource, ConfigError};
use crate::model::{LayerKind, Regions};
use crate::resources::{Selectable, describe};

/// The cities and provinces that clients can select, and the selectors that each resource supports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Areas {
    /// City codes. **Default: `bdg`, `jbd`, `sby`**
    pub cities: Vec<String>,
    /// Province codes (ISO 3166-2). **Default: the 38 of Indonesia**
    pub provinces: Vec<String>,
    /// The selectors of each resource.
    pub supported: Supported,
}

/// The selectors of each resource: the configured ones, otherwise those in the resource's description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ByResource<Selectable>")]
pub(crate) struct Supported(BTreeMap<LayerKind, Selectable>);

impl Default for Areas {
    fn default() -> Self {
        let regions = Regions::default();
        let supported = Supported::of(&ByResource::default(), &regions);
        Self { cities: regions.cities, provinces: regions.provinces, supported }
    }
}

impl Supported {
    /// Returns the selectors of a resource.
    #[must_use]
    pub(crate) fn by(&self, kind: LayerKind) -> &Selectable {
        &self.0[&kind]
    }
}

impl Supported {
    /// Returns the configured selectors, and those of the country for resources without any.
    pub(super) fn of(configured: &ByResource<Selectable>, regions: &Regions) -> Self {
        let selectable = |kind| {
            let own = configured.get(kind).or_else(|| configured.get(describe(kind).selected_as()));
            own.cloned().unwrap_or_else(|| describe(kind).selectable(regions))
        };
        Self(LayerKind::ALL.into_iter().map(|kind| (kind, selectable(kind))).collect())
    }
}

impl From<ByResource<Selectable>> for Supported {
    fn from(configured: ByResource<Selectable>) -> Self {
        Self::of(&configured, &Regions::default())
    }
}

impl Default for Supported {
    fn default() -> Self {
        ByResource::default().into()
    }
}

impl Areas {
    /// Checks that every supported selector is a known city or province.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (kind, selectable) in &self.supported.0 {
            let key = |parameter| format!("siaga.areas.supported.{}.{parameter}", kind.name());
            for (parameter, codes) in [("city", &selectable.city), ("admin", &selectable.admin)] {
                let known = |code| self.cities.contains(code) || self.provinces.contains(code);
                if let Some(code) = codes.iter().find(|code| !known(code)) {
                    let reason =
                        format!("{code:?} is in neither siaga.areas.cities nor siaga.areas.provinces");
                    return Err(ConfigError::new(&key(parameter), reason));
                }
            }
            if !describe(*kind).has_cities() && !selectable.city.is_empty() {
                let reason = format!("must be empty: {} lie in no city", kind.name());
                return Err(ConfigError::new(&key("city"), reason));
            }
        }
        Ok(())
    }
}
