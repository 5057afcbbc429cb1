use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;

use super::StoreError;
use crate::auth::random;
use crate::model::{Card, CardHolder, CardId, Report, ReportContent, Timestamp, WaitingOrigin};

/// Stores cards. Each card permits its holder to send one report.
#[async_trait]
pub trait CardStore {
    /// Creates a card with a random identifier that nobody can guess.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`], [`StoreError::Backend`].
    async fn create_card(&self, holder: CardHolder) -> Result<Arc<Card>, StoreError>;

    /// Creates a card with the identifier `_id`, which must be hard to guess. **Default: an error**
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the card exists. [`StoreError::Refused`] if the store always chooses the identifier.
    async fn create_card_as(&self, _id: &CardId, _holder: CardHolder) -> Result<Arc<Card>, StoreError> {
        Err(StoreError::Refused { what: "this store chooses the identifiers of cards itself".to_owned() })
    }

    /// Returns a card.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`].
    async fn card(&self, id: &CardId) -> Result<Arc<Card>, StoreError>;

    /// Publishes the report of a card and marks the card as used, in one atomic change. Of concurrent calls for a card, exactly
    /// one succeeds.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such card. [`StoreError::Conflict`] if the card has already received its report;
    /// the new report is then not stored.
    async fn receive_card_report(
        &self,
        id: &CardId,
        content: ReportContent,
    ) -> Result<Arc<Report>, StoreError>;

    /// Like [`receive_card_report`](Self::receive_card_report), but the report waits for review: it is hidden until a moderator
    /// shows it. The store keeps `_origin` until a moderator decides. **Default: an error**
    ///
    /// # Errors
    ///
    /// As [`receive_card_report`](Self::receive_card_report), and [`StoreError::Refused`] if the store cannot hide reports.
    async fn receive_waiting_report(
        &self,
        _id: &CardId,
        _content: ReportContent,
        _origin: WaitingOrigin,
    ) -> Result<Arc<Report>, StoreError> {
        Err(StoreError::Refused { what: "this store cannot hide reports".to_owned() })
    }

    /// Sets the `image_url` of the card's report to exactly `image`, and returns whether this call set it. Does nothing if the
    /// report has an image, or if the card or its report does not exist. Of concurrent calls for a card, exactly one sets it.
    async fn show_card_image(&self, id: &CardId, image: &str) -> Result<bool, StoreError>;

    /// Erases up to `_most` cards without a report that were created within `_created` (end excluded), oldest first. Returns the
    /// number of erased cards. **Default: erases none**
    async fn erase_unused_cards(&self, _created: Range<Timestamp>, _most: u32) -> Result<u64, StoreError> {
        Ok(0)
    }
}

pub(super) fn random_card_id() -> Result<CardId, StoreError> {
    let text = random::url_safe::<{ CardId::NEW_LENGTH }>()
        .map_err(|error| StoreError::Backend { source: error.into() })?;
    text.parse().map_err(|error: crate::model::InvalidCardId| StoreError::Backend { source: error.into() })
}
