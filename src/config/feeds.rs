use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::Disasters;
use crate::model::intake::PartnerRules;

/// The feeds of partners.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Feeds {
    /// What the partner feed may report.
    pub partner: PartnerRules,
}

impl Feeds {
    /// Checks that partners report disasters that the installation knows.
    pub(super) fn check(&self, disasters: &Disasters) -> Result<(), ConfigError> {
        let known = disasters.all();
        match self.partner.disaster_types.iter().find(|disaster| !known.contains(disaster)) {
            None => Ok(()),
            Some(unknown) => Err(ConfigError::new(
                "siaga.feeds.partner.disaster_types",
                format!("{unknown} is no type of disaster; siaga.disasters.also can name further ones"),
            )),
        }
    }
}
