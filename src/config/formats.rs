use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ByResource;
use crate::formats::{cap, template, topojson};

/// Which formats are on offer, and their settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Formats {
    /// The formats on offer, by name. **Default: `topojson`, `geojson`, `cap`**
    pub enabled: Vec<String>,
    /// The format of an answer to a request that names none. **Default: `topojson`**
    pub default: String,
    /// The formats on offer, by name, for resources that do not have all: the default, if it is among them, else the first
    /// answers requests that name none. **Default: all that can write the resource**
    pub resources: ByResource<Vec<String>>,
    /// Settings of TopoJSON.
    pub topojson: topojson::Options,
    /// Settings of the CAP feed.
    pub cap: cap::Options,
    /// Formats that are templates, by name: like all others they are on offer when they are enabled. **Default: none**
    pub template: BTreeMap<String, template::Options>,
}

impl Default for Formats {
    fn default() -> Self {
        Self {
            enabled: ["topojson", "geojson", "cap"].map(str::to_owned).to_vec(),
            default: "topojson".to_owned(),
            resources: ByResource::default(),
            topojson: topojson::Options::default(),
            cap: cap::Options::default(),
            template: BTreeMap::new(),
        }
    }
}
