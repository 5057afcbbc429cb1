use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ByResource;
use crate::formats::{cap, template, topojson};

/// The enabled formats and their settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Formats {
    /// The names of the enabled formats. **Default: `topojson`, `geojson`, `cap`, `atom`, `rss`, `html`**
    pub enabled: Vec<String>,
    /// The format of a response if the request does not choose one. **Default: `topojson`**
    pub default: String,
    /// The enabled formats of each resource. Requests that choose no format get the default if it is among them, else the first.
    /// **Default: all enabled formats that can write the resource**
    pub resources: ByResource<Vec<String>>,
    /// Settings of TopoJSON.
    pub topojson: topojson::Options,
    /// Settings of the CAP feed.
    pub cap: cap::Options,
    /// Formats written by templates, by name. Like all formats, they must be enabled. **Default: none**
    pub template: BTreeMap<String, template::Options>,
}

impl Default for Formats {
    fn default() -> Self {
        Self {
            enabled: ["topojson", "geojson", "cap", "atom", "rss", "html"].map(str::to_owned).to_vec(),
            default: "topojson".to_owned(),
            resources: ByResource::default(),
            topojson: topojson::Options::default(),
            cap: cap::Options::default(),
            template: BTreeMap::new(),
        }
    }
}
