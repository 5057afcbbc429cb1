use std::time::Duration;

use async_trait::async_trait;

use super::service_state::{Uploads, state};
use super::{CardStore, ReportStore, ServiceStore, StoreError};
use crate::auth::Secret;
use crate::model::{CardId, Timestamp, Upload};

/// Images of cards before their publication: their state from the upload address until the report has the image.
///
/// An image is *expected* once its upload address was issued, *received* once the upload has arrived, and *published* once the
/// report of the card has it, which is final. A received upload that is not an image is *refused*, and the next one is expected:
/// [`Upload::turn`] counts the uploads of a card. A card never has more than one image, even under concurrent calls.
///
/// Received uploads are a work queue for all servers: a server takes one upload for the duration of a lease. If it neither
/// finishes nor extends the lease, another server takes the upload. Only publication changes the reports.
///
/// Each method has a default: it works on the store's [`ServiceState`](super::ServiceState), and publishes with
/// [`CardStore::show_card_image`].
#[async_trait]
pub trait ImageStore: CardStore + ReportStore + ServiceStore {
    /// Returns the secret that signs upload addresses: the value of `new` in the very first call on any server.
    async fn signing_key(&self, new: &Secret) -> Result<Secret, StoreError> {
        Ok(state(self)?.with(|service, _| service.signing_key.get_or_insert_with(|| new.clone()).clone()))
    }

    /// Expects an image for a card until `until`, or until the time of an earlier call if that is later, and returns the upload.
    /// Until it arrives, every call returns the same upload.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such card. [`StoreError::Conflict`] if the card has no report yet, an upload of
    /// its image was received, or its report has an image.
    async fn expect_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        if self.card(card).await?.report.is_none() {
            return Err(StoreError::no_card_report(card));
        }
        self.expect_early_image(card, until).await
    }

    /// Like [`expect_image`](Self::expect_image), but also before the report of the card: then the upload waits for the report.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such card. [`StoreError::Conflict`] if an upload of its image was received, or its
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

    /// Records that an expected upload has arrived and is stored as `object`; returns whether it is received as that object.
    /// Ignores the deadline, because an upload can arrive in time and be recorded late. If calls pass different objects, the
    /// result is `true` for exactly one object, even if its call is repeated before the upload is refused or published.
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

    /// Takes the received upload that has been due for longest; among equals, the lowest card identifier. No other call takes it
    /// during the `lease`. `None` if none is due. An early upload is not due before the report of its card is stored.
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

    /// Delays a received upload: no call takes it until `delay` from now. Extends a lease, or defers the work. Does nothing if
    /// the upload is not received.
    async fn postpone_upload(&self, upload: &Upload, delay: Duration) -> Result<(), StoreError> {
        state(self)?.with(|service, now| service.uploads.postpone(upload, now.saturating_add(delay)));
        Ok(())
    }

    /// Refuses a received upload: the next turn of its card is expected, with the same deadline. Does nothing if the upload is
    /// not received.
    async fn refuse_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.uploads.refuse(upload));
        Ok(())
    }

    /// Sets the `image_url` of the card's report to `image`, unchanged, and returns whether this call did so. Does nothing if the
    /// upload is not received, or the report has an image. In either case the upload is no longer received afterwards.
    ///
    /// The service passes the [name of the photo](crate::model::is_photo_name) and builds the address when the report is read,
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
    /// The object it is stored as.
    pub object: Box<str>,
    /// How often the upload was taken, including this time.
    pub attempt: u32,
}
