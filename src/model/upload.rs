use std::fmt;

use super::CardId;

/// One upload of the image of a card.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Upload {
    /// The card.
    pub card: CardId,
    /// How many uploads of the card were refused before.
    pub turn: u32,
}

impl fmt::Display for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upload {} of card {}", self.turn, self.card)
    }
}
