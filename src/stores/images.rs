use std::time::Duration;

use async_trait::async_trait;

use super::service_state::state;
use super::{CardStore, ReportStore, ServiceStore, StoreError};
use crate::model::{CardId, Timestamp, Upload};

/// Images of cards on their way: what is known of each from the address for its upload until its report shows it.
///
/// An image is *expected* when an address for its upload is given out, *received* when the upload has come, and
/// *published* when the report of the card shows it, which is the end. A received upload that turns out to be no image is
/// *refused*, and the next one is expected: uploads of a card are counted by [`Upload::turn`]. A card has one image at
/// most, under any concurrency.
///
/// Received uploads are work, which any instance takes, one upload at a time each: whoever takes one has it for a
/// while, and when nothing is heard of it by then, another instance takes it.
///
/// Of all this readers of reports see the publication alone: it is a change of reports, nothing else here is.
///
/// Each method has a default: it works on the store's [`ServiceState`](super::ServiceState), and publishes by
/// [`CardStore::show_card_image`].
#[async_trait]
pub trait ImageStore: CardStore + ReportStore + ServiceStore {
    /// Expects an image of a card until `until`, or for as long as before if that is longer, and names the upload.
    /// Asked again before the upload has come, it names the same.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] when there is no such card, [`StoreError::Conflict`] when it has not received its report,
    /// or an upload of its image is received, or its report shows an image. [`StoreError::Unavailable`].
    async fn expect_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        let key = self.card(card).await?.report.ok_or_else(|| StoreError::not_received(card))?;
        let shown = self.report(key).await?.value.content.image_url.is_some();
        let expected = if shown { None } else { state(self)?.expect_image(card, until) };
        expected.ok_or_else(|| StoreError::has_image(card))
    }

    /// The upload that is expected of a card, however long ago that ended; `None` when none is.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn expected_upload(&self, card: &CardId) -> Result<Option<Upload>, StoreError> {
        Ok(state(self)?.expected_upload(card))
    }

    /// Notes that an expected upload has come and is found as `object`; tells whether it is received as that object. It
    /// may have come in time and be noted late, so it does not matter until when it was expected. Of any number of calls
    /// with different objects exactly one is told so, however often it is repeated before the upload is refused or
    /// published; repeating it changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn receive_upload(&self, upload: &Upload, object: &str) -> Result<bool, StoreError> {
        Ok(state(self)?.receive_upload(upload, object))
    }

    /// Until when the last of the uploads that are expected now may come; `None` when none is.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn uploads_expected_until(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(state(self)?.uploads_expected_until())
    }

    /// How many received uploads are not done with: those that wait, and those somebody works on.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn uploads_waiting(&self) -> Result<u64, StoreError> {
        Ok(state(self)?.uploads_waiting())
    }

    /// Takes the received upload that is due for longest, of several the one of the lowest card, for a `lease`: for so
    /// long no other call takes it. `None` when none is due.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn take_upload(&self, lease: Duration) -> Result<Option<TakenUpload>, StoreError> {
        Ok(state(self)?.take_upload(lease))
    }

    /// Lets nobody take a received upload until a `delay` from now has passed: what extends a lease, and what puts the
    /// work off. Does nothing when the upload is not received.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn postpone_upload(&self, upload: &Upload, delay: Duration) -> Result<(), StoreError> {
        state(self)?.postpone_upload(upload, delay);
        Ok(())
    }

    /// Refuses a received upload: the next turn of its card is expected until when this one was. Does nothing when the
    /// upload is not received.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn refuse_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        state(self)?.refuse_upload(upload);
        Ok(())
    }

    /// Makes `image` the `image_url` of the card's report, as it is; tells whether this call did. It does not when the upload
    /// is not received, or the report shows an image. Either way the upload is not received any more.
    ///
    /// The service gives the [name of the photo](crate::model::is_photo_name), and makes an address of it when the report is
    /// read: the address of photos can change.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn publish_image(&self, upload: &Upload, image: &str) -> Result<bool, StoreError> {
        let state = state(self)?;
        if !state.is_received(upload) {
            return Ok(false);
        }
        let shown = self.show_card_image(&upload.card, image).await?;
        // The report shows an image now, from this call or an earlier one, so no later upload is needed either.
        state.end_image(&upload.card);
        Ok(shown)
    }
}

/// A received upload somebody works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenUpload {
    /// Which.
    pub upload: Upload,
    /// Where it is found.
    pub object: Box<str>,
    /// How often it was taken, this time included.
    pub attempt: u32,
}
