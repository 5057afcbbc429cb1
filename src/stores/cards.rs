use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;

use super::StoreError;
use crate::auth::random;
use crate::model::{Card, CardHolder, CardId, Report, ReportContent, Timestamp, WaitingOrigin};

/// Cards. Each card permits one report.
#[async_trait]
pub trait CardStore {
    /// Creates a card with a random identifier that nobody can guess.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`], [`StoreError::Backend`].
    async fn create_card(&self, holder: CardHolder) -> Result<Arc<Card>, StoreError>;

    /// Creates a card with an identifier that the caller chose, which nobody can guess. **Default: refuses**
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if there is such a card. [`StoreError::Refused`] if the store always chooses itself.
    /// [`StoreError::Unavailable`].
    async fn create_card_as(&self, _id: &CardId, _holder: CardHolder) -> Result<Arc<Card>, StoreError> {
        Err(StoreError::Refused { what: "this store chooses the identifiers of cards itself".to_owned() })
    }

    /// Returns a card.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`], [`StoreError::Unavailable`].
    async fn card(&self, id: &CardId) -> Result<Arc<Card>, StoreError>;

    /// Publishes the report of a card and marks the card as used, as one change. If several calls come for one card,
    /// exactly one succeeds.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such card, [`StoreError::Conflict`] if it has received its report
    /// already; nothing is stored then. [`StoreError::Unavailable`].
    async fn receive_card_report(
        &self,
        id: &CardId,
        content: ReportContent,
    ) -> Result<Arc<Report>, StoreError>;

    /// As [`receive_card_report`](Self::receive_card_report), but the report waits for review: it is hidden until a moderator
    /// shows it. Its origin is kept until then. **Default: refuses**
    ///
    /// # Errors
    ///
    /// As [`receive_card_report`](Self::receive_card_report); [`StoreError::Refused`] if the store cannot hide reports.
    async fn receive_waiting_report(
        &self,
        _id: &CardId,
        _content: ReportContent,
        _origin: WaitingOrigin,
    ) -> Result<Arc<Report>, StoreError> {
        Err(StoreError::Refused { what: "this store cannot hide reports".to_owned() })
    }

    /// Makes `image` the `image_url` of the card's report, unchanged, and returns whether this call did so. Does
    /// nothing if the report shows an image already, or there is no report or no such card. If several calls come for
    /// one card, exactly one succeeds.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn show_card_image(&self, id: &CardId, image: &str) -> Result<bool, StoreError>;

    /// Erases at most `most` of the cards that have no report and were made between two moments, the second excluded,
    /// oldest first, and returns how many these were. **Default: erases none**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn erase_unused_cards(&self, _made: Range<Timestamp>, _most: u32) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// Returns a random identifier for a new card that nobody can guess.
pub(super) fn random_card_id() -> Result<CardId, StoreError> {
    let text = random::url_safe::<{ CardId::NEW_LENGTH }>()
        .map_err(|error| StoreError::Backend { source: error.into() })?;
    text.parse().map_err(|error: crate::model::InvalidCardId| StoreError::Backend { source: error.into() })
}
