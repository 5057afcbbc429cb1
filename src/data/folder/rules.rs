use std::sync::Arc;

use crate::model::bodies::{CardRules, MaxIdLength};
use crate::model::{CardId, DisasterType, Disasters, Hazards};

/// What the cards and reports of a folder may contain: disasters, attributes, and the length of card identifiers.
#[derive(Clone, Debug)]
pub struct FolderRules {
    disasters: Arc<[DisasterType]>,
    max_card_id: MaxIdLength,
    pub(super) hazards: Arc<Hazards>,
}

impl Default for FolderRules {
    fn default() -> Self {
        Self::new(&Disasters::default(), &CardRules::default())
    }
}

impl FolderRules {
    /// Returns the rules for an installation with these disasters and rules for cards.
    #[must_use]
    pub fn new(disasters: &Disasters, cards: &CardRules) -> Self {
        let hazards = Arc::clone(&cards.hazards);
        Self { disasters: disasters.all(&hazards).into(), max_card_id: cards.max_id_length, hazards }
    }

    /// Returns the disaster type with this name.
    ///
    /// # Errors
    ///
    /// The reason, if the installation does not have this disaster type.
    pub fn disaster(&self, name: &str) -> Result<DisasterType, String> {
        self.disasters.iter().find(|disaster| disaster.name() == name).copied().ok_or_else(|| {
            let names: Vec<_> = self.disasters.iter().map(DisasterType::name).collect();
            let names = names.join(", ");
            format!("disaster_type must be one of [{names}], not {name:?}; siaga.disasters.also adds types")
        })
    }

    /// Parses a card identifier.
    ///
    /// # Errors
    ///
    /// The reason, if the text is not an identifier, or is too long.
    pub fn card_id(&self, text: &str) -> Result<CardId, String> {
        self.max_card_id.read(text).map_err(|error| {
            format!("card_id {error}; siaga.cards.max_id_length allows up to {}", CardId::LONGEST)
        })
    }
}
