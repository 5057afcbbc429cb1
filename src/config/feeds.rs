use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::bodies::PartnerRules;
use crate::model::{DisasterType, Disasters, Hazards};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Feeds {
    pub partner: PartnerRules,
}

impl Feeds {
    pub(super) fn check(&self, disasters: &Disasters, hazards: &Hazards) -> Result<(), ConfigError> {
        let allowed = disasters.all(hazards);
        let unknown = |(_, disaster): &(usize, &DisasterType)| !allowed.contains(disaster);
        let Some((index, unknown)) = self.partner.disaster_types.iter().enumerate().find(unknown) else {
            return Ok(());
        };
        let names: Vec<_> = allowed.iter().map(DisasterType::name).collect();
        let names = names.join(", ");
        Err(ConfigError::new(
            &format!("siaga.feeds.partner.disaster_types.{index}"),
            format!("must be one of [{names}], not {unknown}; siaga.disasters.also adds types"),
        ))
    }
}
