use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{ReportKey, Timestamp};

/// The identifier of a card: 7 to 36 characters without control characters. Only imported cards have more than 14 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardId(Box<str>);

/// Error for a text that is not a [`CardId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be of {} to {longest} characters, none of them a control character", CardId::SHORTEST)]
pub struct InvalidCardId {
    /// The maximum number of characters.
    pub longest: usize,
}

impl CardId {
    pub(crate) const SHORTEST: usize = 7;
    /// The length of a UUID.
    pub(crate) const LONGEST: usize = 36;
    /// The length of new identifiers in characters. Each character is one of 64, so nobody can guess an identifier.
    pub(crate) const NEW_LENGTH: usize = 14;

    /// Returns the identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CardId {
    type Err = InvalidCardId;

    fn from_str(text: &str) -> Result<Self, InvalidCardId> {
        let length = text.chars().count();
        let valid = (Self::SHORTEST..=Self::LONGEST).contains(&length) && !text.contains(char::is_control);
        if valid { Ok(Self(text.into())) } else { Err(InvalidCardId { longest: Self::LONGEST }) }
    }
}

impl fmt::Display for CardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for CardId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The user for whom a card is created.
#[derive(Clone, Debug)]
pub struct CardHolder {
    /// The name of the user in the network.
    pub username: String,
    /// The messaging network of the user, such as `telegram`.
    pub network: String,
    /// The language of the card.
    pub language: String,
    /// Data that the network stores with the card, as JSON.
    pub network_data: Option<Box<RawValue>>,
}

/// A card, which permits one report.
#[derive(Clone, Debug)]
pub struct Card {
    /// The sequence number.
    pub pkey: u64,
    /// The identifier.
    pub id: CardId,
    /// The user for whom the card was created.
    pub holder: CardHolder,
    /// The report made with the card, at most one.
    pub report: Option<ReportKey>,
    /// When the card was created. If a data set has no time (`None`), the store uses the time at which it stores the card.
    pub created_at: Option<Timestamp>,
}

/// An upload of the photo of a card.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Upload {
    /// The card.
    pub card: CardId,
    /// The number of the card's earlier uploads that were rejected.
    pub turn: u32,
}

impl fmt::Display for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upload {} of card {}", self.turn, self.card)
    }
}
