use std::time::Duration;

use async_trait::async_trait;

use super::service_state::{Uploads, state};
use super::{CardStore, ReportStore, ServiceStore, StoreError};
use crate::auth::Secret;
use crate::model::{CardId, Timestamp, Upload};

/// Tracks the image of each card, from the moment its upload address is issued until the report has the image.
///
/// An image is *expected* once its upload address was issued, *received* once the upload has arrived, and *published* once the
/// report of the card has the image, which is final. If a received upload is not an image, the server *refuses* it and expects
/// another one; [`Upload::turn`] counts the refusals. A card never has more than one image, even under concurrent calls.
///
/// Received uploads are a work queue for all servers: a server takes an upload for the duration of a lease. If the lease ends
/// before the server has finished, another server can take the upload. Only publishing an image changes the reports.
///
/// By default, the methods use the store's [`ServiceState`](super::ServiceState) and [`CardStore::show_card_image`].
#[async_trait]
pub trait ImageStore: CardStore + ReportStore + ServiceStore {
    /// Returns the secret that signs upload addresses: the value `new` of the very first call on any server.
    async fn signing_key(&self, new: &Secret) -> Result<Secret, StoreError> {
        Ok(state(self)?.with(|service, _| service.signing_key.get_or_insert_with(|| new.clone()).clone()))
    }

    /// Expects an image for a card, and returns its upload. The deadline is the latest `until` of all calls for the card. Until
    /// the upload arrives, every call returns the same upload.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such card. [`StoreError::Conflict`] if the card has no report yet, an upload was
    /// already received, or the report has an image.
    async fn expect_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        if self.card(card).await?.report.is_none() {
            return Err(StoreError::no_card_report(card));
        }
        self.expect_early_image(card, until).await
    }

    /// Like [`expect_image`](Self::expect_image), but the card need not have its report. The upload then waits for the report.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such card. [`StoreError::Conflict`] if an upload was already received, or the
    /// report has an image.
    async fn expect_early_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        if let Some(key) = self.card(card).await?.report
            && self.report(key).await?.value.content.image_url.is_some()
        {
            return Err(StoreError::image_exists(card));
        }
        let expected = state(self)?.with(|service, _| service.uploads.expect(card, until));
        expected.ok_or_else(|| StoreError::image_exists(card))
    }

    /// Whether an upload for a card has arrived and was not refused.
    async fn has_upload(&self, card: &CardId) -> Result<bool, StoreError> {
        Ok(state(self)?.with(|service, _| service.uploads.has_arrived(card)))
    }

    /// Returns the expected upload of a card, even after its deadline; `None` if none is expected.
    async fn expected_upload(&self, card: &CardId) -> Result<Option<Upload>, StoreError> {
        Ok(state(self)?.with(|service, _| service.uploads.expected(card)))
    }

    /// Records that an expected upload has arrived and is stored as `object`. Returns whether `object` is now the upload of the
    /// card: if calls pass different objects, this is true for exactly one. Repeating that call returns `true` again, until the
    /// upload is refused or published. Ignores the deadline, because an upload can arrive in time and be recorded late.
    async fn receive_upload(&self, upload: &Upload, object: &str) -> Result<bool, StoreError> {
        Ok(state(self)?.with(|service, now| service.uploads.receive(upload, object, now)))
    }

    /// Returns the latest deadline of the expected uploads; `None` if none is expected.
    async fn uploads_expected_until(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(state(self)?.with(|service, _| service.uploads.expected_until()))
    }

    /// Returns how many received uploads of cards with a report are waiting or being processed. **Default: also counts uploads of
    /// cards without a report**
    async fn uploads_waiting(&self) -> Result<u64, StoreError> {
        Ok(state(self)?.with(|service, _| service.uploads.waiting(|_| true)))
    }

    /// Takes the received upload that has been due for longest (if equal, of the lowest card identifier). No other call takes it
    /// during the `lease`. Returns `None` if no upload is due. An upload is not due before the card has its report.
    async fn take_upload(&self, lease: Duration) -> Result<Option<TakenUpload>, StoreError> {
        let state = state(self)?;
        for card in state.with(|service, now| service.uploads.due(now)) {
            if self.card(&card).await?.report.is_none() {
                continue;
            }
            let take = |now: Timestamp, uploads: &mut Uploads| {
                uploads.take(now, now.saturating_add(lease), |due| *due == card)
            };
            if let Some(taken) = state.with(|service, now| take(now, &mut service.uploads)) {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    }

    /// Makes a received upload due again after `delay`; until then, no call takes it. Servers use this to extend a lease, or to
    /// retry later. Does nothing unless the upload is *received*.
    async fn postpone_upload(&self, upload: &Upload, delay: Duration) -> Result<(), StoreError> {
        state(self)?.with(|service, now| service.uploads.postpone(upload, now.saturating_add(delay)));
        Ok(())
    }

    /// Refuses a *received* upload, and expects the next one for the card, with the same deadline. Otherwise does nothing.
    async fn refuse_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.uploads.refuse(upload));
        Ok(())
    }

    /// Sets the `image_url` of the card's report to exactly `image`, and returns whether this call set it. Does nothing unless
    /// the upload is *received*. Afterwards it is no longer *received*, even if the report already had an image.
    ///
    /// The server passes the [name of the photo](crate::model::is_photo_name), and builds the address when the report is read,
    /// because the address of photos can change.
    async fn publish_image(&self, upload: &Upload, image: &str) -> Result<bool, StoreError> {
        let state = state(self)?;
        if !state.with(|service, _| service.uploads.is_received(upload)) {
            return Ok(false);
        }
        let shown = self.show_card_image(&upload.card, image).await?;
        // The card needs no further upload, because its report has an image now, from this call or an earlier one.
        state.with(|service, _| service.uploads.finish(&upload.card));
        Ok(shown)
    }
}

/// A received upload that a server works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenUpload {
    /// The upload.
    pub upload: Upload,
    /// The name of the stored object.
    pub object: Box<str>,
    /// How often the upload was taken, including this time.
    pub attempt: u32,
}
