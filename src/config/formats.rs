use serde::{Deserialize, Serialize};

use crate::formats::{cap, topojson};

/// Which formats are on offer, and their settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Formats {
    /// The formats on offer, by name. **Default: `topojson`, `geojson`, `cap`**
    pub enabled: Vec<String>,
    /// The format of an answer to a request that names none. **Default: `topojson`**
    pub default: String,
    /// Settings of TopoJSON.
    pub topojson: topojson::Options,
    /// Settings of the CAP feed.
    pub cap: cap::Options,
}

impl Default for Formats {
    fn default() -> Self {
        Self {
            enabled: ["topojson", "geojson", "cap"].map(str::to_owned).to_vec(),
            default: "topojson".to_owned(),
            topojson: topojson::Options::default(),
            cap: cap::Options::default(),
        }
    }
}
