use serde::{Deserialize, Serialize};

use crate::model::intake::PartnerRules;

/// The feeds of partners.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Feeds {
    /// What the partner feed may report.
    pub partner: PartnerRules,
}
