use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::formats::{cap, template, topojson};
use crate::model::LayerKind;

/// The formats on offer of those resources that do not have all, by name: the default among them is the resource's too, else
/// the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Resources {
    /// `/floods`. **Default: all that can write it**
    pub floods: Option<Vec<String>>,
    /// `/reports` and what lies under it. **Default: all that can write it**
    pub reports: Option<Vec<String>>,
    /// `/floodgauges`. **Default: all that can write it**
    pub gauges: Option<Vec<String>>,
    /// `/infrastructure`. **Default: all that can write it**
    pub infrastructure: Option<Vec<String>>,
    /// `/admin`. **Default: all that can write it**
    pub boundaries: Option<Vec<String>>,
}

impl Resources {
    /// The names of those that are narrowed.
    pub fn narrowed(&self) -> impl Iterator<Item = (LayerKind, &[String])> {
        let Self { floods, reports, gauges, infrastructure, boundaries } = self;
        let all = [
            (LayerKind::Floods, floods),
            (LayerKind::Reports, reports),
            (LayerKind::Gauges, gauges),
            (LayerKind::Infrastructure, infrastructure),
            (LayerKind::Boundaries, boundaries),
        ];
        all.into_iter().filter_map(|(kind, names)| Some((kind, names.as_deref()?)))
    }
}

/// Which formats are on offer, and their settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Formats {
    /// The formats on offer, by name. **Default: `topojson`, `geojson`, `cap`**
    pub enabled: Vec<String>,
    /// The format of an answer to a request that names none. **Default: `topojson`**
    pub default: String,
    /// Which of them each resource is on offer in.
    pub resources: Resources,
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
            resources: Resources::default(),
            topojson: topojson::Options::default(),
            cap: cap::Options::default(),
            template: BTreeMap::new(),
        }
    }
}
