use super::StoreError;
use crate::model::CardId;
use crate::random;

/// An identifier for a new card that nobody can guess.
pub(super) fn random_card_id() -> Result<CardId, StoreError> {
    let text = random::url_safe::<{ CardId::NEW_LENGTH }>()
        .map_err(|error| StoreError::Backend { source: error.into() })?;
    text.parse().map_err(|error: crate::model::InvalidCardId| StoreError::Backend { source: error.into() })
}
