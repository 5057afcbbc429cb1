use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::Rate;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ReportPage {
    /// Holds all reports of the page for review. **Default: `false`**
    pub(crate) review: bool,
    /// Reports without a link, per hour and address (IPv6: /64), published without review. A /56 may have twice as many, a /48
    /// and an IPv4 /24 four times. `0` for no limit. **Default: `300`**
    pub(crate) reviewed_after: Rate,
    /// Reports without a link, per hour and server, that are published without review. Beyond this number, each network may
    /// still publish three. `0` for no limit. **Default: `5000`**
    pub(crate) reviewed_total: Rate,
    /// Reports without a link, per hour and address; further reports are rejected. `0` for no limit. **Default: `600`**
    pub(crate) refused_after: Rate,
    /// Advice shown after a report, by language. **Default: a text of the country**
    pub(crate) advice: BTreeMap<String, String>,
}

impl ReportPage {
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
