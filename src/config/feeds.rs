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
        let known = disasters.all(hazards);
        let unknown = |(_, disaster): &(usize, &DisasterType)| !known.contains(disaster);
        let Some((place, unknown)) = self.partner.disaster_types.iter().enumerate().find(unknown) else {
            return Ok(());
        };
        let names: Vec<_> = known.iter().map(DisasterType::name).collect();
        let names = names.join(", ");
        Err(ConfigError::new(
            &format!("siaga.feeds.partner.disaster_types.{place}"),
            format!("must be one of [{names}], not {unknown}; siaga.disasters.also adds types"),
        ))
    }
}
