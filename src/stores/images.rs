use std::time::Duration;

use async_trait::async_trait;

use super::service_state::{Uploads, state};
use super::{CardStore, ReportStore, ServiceStore, StoreError};
use crate::auth::Secret;
use crate::model::{CardId, Timestamp, Upload};

/// Images of cards before their publication: the state of each, from the address for its upload until its report shows
/// it.
///
/// An image is *expected* once an address for its upload is given out, *received* once the upload has arrived, and
/// *published* once the report of the card shows it; this is the last state. A received upload that turns out not to be
/// an image is *refused*, and the next one is expected: [`Upload::turn`] counts the uploads of a card. A card never has
/// more than one image, even under concurrent calls.
///
/// Received uploads are work for any server, one upload at a time each. A server takes an upload for a limited time,
/// the lease. If it is not heard from by the end of the lease, another server takes the upload.
///
/// Readers of reports see only the publication: it changes reports, and nothing else here does.
///
/// Each method has a default: it works on the store's [`ServiceState`](super::ServiceState), and publishes with
/// [`CardStore::show_card_image`].
#[async_trait]
pub trait ImageStore: CardStore + ReportStore + ServiceStore {
    /// Returns the secret that signs the addresses of uploads: the one that the first call brought, on any server.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn signing_key(&self, new: &Secret) -> Result<Secret, StoreError> {
        Ok(state(self)?.with(|service, _| service.signing_key.get_or_insert_with(|| new.clone()).clone()))
    }

    /// Expects an image for a card until `until`, or until the time of an earlier call if that is later, and returns
    /// the upload. Until the upload arrives, every call returns the same one.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such card. [`StoreError::Conflict`] if the card has not received its
    /// report, an upload of its image is received, or its report shows an image. [`StoreError::Unavailable`].
    async fn expect_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        if self.card(card).await?.report.is_none() {
            return Err(StoreError::not_received(card));
        }
        self.expect_early_image(card, until).await
    }

    /// As [`expect_image`](Self::expect_image), but also before the report of the card: then the upload waits for the report.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such card. [`StoreError::Conflict`] if an upload of its image is received, or
    /// its report shows an image. [`StoreError::Unavailable`].
    async fn expect_early_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        if let Some(key) = self.card(card).await?.report
            && self.report(key).await?.value.content.image_url.is_some()
        {
            return Err(StoreError::has_image(card));
        }
        let expected = state(self)?.with(|service, _| service.uploads.expect(card, until));
        expected.ok_or_else(|| StoreError::has_image(card))
    }

    /// Returns whether an upload for a card has arrived and was not refused.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn has_upload(&self, card: &CardId) -> Result<bool, StoreError> {
        Ok(state(self)?.with(|service, _| service.uploads.has_arrived(card)))
    }

    /// Returns the upload that is expected for a card, even if its time is over; `None` if none is expected.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn expected_upload(&self, card: &CardId) -> Result<Option<Upload>, StoreError> {
        Ok(state(self)?.with(|service, _| service.uploads.expected(card)))
    }

    /// Records that an expected upload has arrived and is stored as `object`; returns whether the upload is received as
    /// that object. It does not matter until when the upload was expected, because it may arrive in time and be
    /// recorded late. If calls come with different objects, exactly one object gets `true`, however often its call is
    /// repeated before the upload is refused or published. A repeated call changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn receive_upload(&self, upload: &Upload, object: &str) -> Result<bool, StoreError> {
        Ok(state(self)?.with(|service, now| service.uploads.receive(upload, object, now)))
    }

    /// Returns until when the last of the expected uploads may arrive; `None` if none is expected.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn uploads_expected_until(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(state(self)?.with(|service, _| service.uploads.expected_until()))
    }

    /// Returns how many received uploads of cards with a report are not finished: those that wait, and those that a server
    /// works on. **Default: also those of cards without a report**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn uploads_waiting(&self) -> Result<u64, StoreError> {
        Ok(state(self)?.with(|service, _| service.uploads.waiting(|_| true)))
    }

    /// Takes the received upload that has been due for longest; if several have, the one of the lowest card. No other
    /// call takes it during the `lease`. Returns `None` if none is due. An upload that came before the report of its card
    /// is not taken until the report is there.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn take_upload(&self, lease: Duration) -> Result<Option<TakenUpload>, StoreError> {
        let state = state(self)?;
        for card in state.with(|service, now| service.uploads.due(now)) {
            if self.card(&card).await?.report.is_none() {
                continue;
            }
            let take =
                |now: Timestamp, uploads: &mut Uploads| uploads.take(now, now.after(lease), |of| *of == card);
            if let Some(taken) = state.with(|service, now| take(now, &mut service.uploads)) {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    }

    /// Lets no call take a received upload until `delay` from now has passed. This extends a lease, or puts the work
    /// off. Does nothing if the upload is not received.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn postpone_upload(&self, upload: &Upload, delay: Duration) -> Result<(), StoreError> {
        state(self)?.with(|service, now| service.uploads.postpone(upload, now.after(delay)));
        Ok(())
    }

    /// Refuses a received upload: the next turn of its card is expected, until the same time as this one. Does nothing
    /// if the upload is not received.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn refuse_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.uploads.refuse(upload));
        Ok(())
    }

    /// Makes `image` the `image_url` of the card's report, unchanged, and returns whether this call did so. It does not
    /// if the upload is not received, or the report shows an image. Either way the upload is no longer received.
    ///
    /// The service passes the [name of the photo](crate::model::is_photo_name) and builds the address from it when the
    /// report is read, because the address of photos can change.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn publish_image(&self, upload: &Upload, image: &str) -> Result<bool, StoreError> {
        let state = state(self)?;
        if !state.with(|service, _| service.uploads.is_received(upload)) {
            return Ok(false);
        }
        let shown = self.show_card_image(&upload.card, image).await?;
        // The report shows an image now, from this call or an earlier one, so the card needs no further upload.
        state.with(|service, _| service.uploads.end(&upload.card));
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
    /// How often it was taken, including this time.
    pub attempt: u32,
}
