use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::Rate;

/// The page on which residents report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ReportPage {
    /// Whether all reports of the page wait for review. **Default: `false`**
    pub(crate) review: bool,
    /// Reports of the page an hour from one address; those beyond it wait for review. `0` for no limit. **Default: `300`**
    pub(crate) reviewed_after: Rate,
    /// Reports of the page an hour from one address; those beyond it are refused. `0` for no limit. **Default: `600`**
    pub(crate) refused_after: Rate,
    /// What the page says after a report: what people should do now, by language. **Default: a text of the country**
    pub(crate) advice: BTreeMap<String, String>,
}

impl ReportPage {
    /// Removes the limits, as for a trial.
    pub(super) fn unlimited(self) -> Self {
        Self { reviewed_after: Rate::ANY, refused_after: Rate::ANY, ..self }
    }
}

impl Default for ReportPage {
    fn default() -> Self {
        Self {
            review: false,
            reviewed_after: Rate::of(NonZeroU32::new(300)),
            refused_after: Rate::of(NonZeroU32::new(600)),
            advice: BTreeMap::new(),
        }
    }
}
