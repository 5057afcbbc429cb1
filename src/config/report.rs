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
    /// Reports without a link, in an hour from one address, that are published without review. IPv6 addresses count by their /64. Wider
    /// networks may have more: a /56 twice as many, a /48 and an IPv4 /24 four times as many. `0` for no limit. **Default: `300`**
    pub(crate) reviewed_after: Rate,
    /// Reports without a link, in an hour and for each server, that are published without review. Beyond it each network still has three.
    /// `0` for no limit. **Default: `5000`**
    pub(crate) reviewed_total: Rate,
    /// Reports without a link, in an hour from one address; those beyond it are refused. `0` for no limit. **Default: `600`**
    pub(crate) refused_after: Rate,
    /// What the page says after a report: what people should do now, by language. **Default: a text of the country**
    pub(crate) advice: BTreeMap<String, String>,
}

impl ReportPage {
    /// Removes the limits, as for a trial.
    pub(super) fn unlimited(self) -> Self {
        Self { reviewed_after: Rate::ANY, reviewed_total: Rate::ANY, refused_after: Rate::ANY, ..self }
    }
}

impl Default for ReportPage {
    fn default() -> Self {
        Self {
            review: false,
            reviewed_after: Rate::new(NonZeroU32::new(300)),
            reviewed_total: Rate::new(NonZeroU32::new(5_000)),
            refused_after: Rate::new(NonZeroU32::new(600)),
            advice: BTreeMap::new(),
        }
    }
}
