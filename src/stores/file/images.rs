use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::FileStore;
use super::intake::report_of;
use super::tables::Row;
use crate::auth::Secret;
use crate::model::{CardId, Timestamp, Upload};
use crate::stores::memory::MemoryStore;
use crate::stores::{ImageStore, StoreError, TakenUpload};

impl FileStore {
    /// Makes a change of a card's image.
    async fn write_image<T: Send + 'static>(
        &self,
        card: CardId,
        change: impl for<'a> FnOnce(&'a MemoryStore) -> BoxFuture<'a, Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let writing = self.journal.write(|next, rows| {
            let changing = async move {
                let changed = change(next).await?;
                rows.extend(row_of(next, &card));
                Ok(changed)
            };
            changing.boxed()
        });
        writing.await
    }
}

/// Returns the row of a card's image, if anything is known of it.
fn row_of(store: &MemoryStore, card: &CardId) -> Option<Row> {
    store.service().image(card).map(|image| Row::Image(card.clone(), image))
}

// The default of a missing method would work on a `ServiceState`, which this store does not have.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ImageStore for FileStore {
    async fn signing_key(&self, new: &Secret) -> Result<Secret, StoreError> {
        let new = new.clone();
        let keeping = self.journal.write(move |next, rows| {
            let secret = next.service().signing_key(&new);
            if secret == new {
                rows.push(Row::SigningKey(new));
            }
            async { Ok(secret) }.boxed()
        });
        keeping.await
    }

    async fn expect_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        let id = card.clone();
        let expecting = self.write_image(card.clone(), move |next| {
            async move { next.expect_image(&id, until).await }.boxed()
        });
        expecting.await
    }

    async fn expected_upload(&self, card: &CardId) -> Result<Option<Upload>, StoreError> {
        self.current().expected_upload(card).await
    }

    async fn receive_upload(&self, upload: &Upload, object: &str) -> Result<bool, StoreError> {
        let (card, upload, object) = (upload.card.clone(), upload.clone(), object.to_owned());
        let receiving = self.write_image(card, move |next| {
            async move { next.receive_upload(&upload, &object).await }.boxed()
        });
        receiving.await
    }

    async fn uploads_expected_until(&self) -> Result<Option<Timestamp>, StoreError> {
        self.current().uploads_expected_until().await
    }

    async fn uploads_waiting(&self) -> Result<u64, StoreError> {
        self.current().uploads_waiting().await
    }

    async fn take_upload(&self, lease: Duration) -> Result<Option<TakenUpload>, StoreError> {
        // Servers ask again and again.
        if self.uploads_waiting().await? == 0 {
            return Ok(None);
        }
        let taking = self.journal.write(move |next, rows| {
            let taking = async move {
                let taken = next.take_upload(lease).await?;
                rows.extend(taken.as_ref().and_then(|taken| row_of(next, &taken.upload.card)));
                Ok(taken)
            };
            taking.boxed()
        });
        taking.await
    }

    async fn postpone_upload(&self, upload: &Upload, delay: Duration) -> Result<(), StoreError> {
        let (card, upload) = (upload.card.clone(), upload.clone());
        let postponing = self
            .write_image(card, move |next| async move { next.postpone_upload(&upload, delay).await }.boxed());
        postponing.await
    }

    async fn refuse_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        let (card, upload) = (upload.card.clone(), upload.clone());
        let refusing =
            self.write_image(card, move |next| async move { next.refuse_upload(&upload).await }.boxed());
        refusing.await
    }

    async fn publish_image(&self, upload: &Upload, image: &str) -> Result<bool, StoreError> {
        let (upload, image) = (upload.clone(), image.to_owned());
        let publishing = self.journal.write(move |next, rows| {
            let publishing = async move {
                let shown = next.publish_image(&upload, &image).await?;
                if shown {
                    rows.extend(report_of(next, &upload.card));
                }
                rows.extend(row_of(next, &upload.card));
                Ok(shown)
            };
            publishing.boxed()
        });
        publishing.await
    }
}
