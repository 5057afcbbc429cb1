use std::time::Duration;

use rocket::tokio::time;

use super::error::log_unless_away;
use super::{CardImages, ImageError, names};
use crate::model::{PhotoMove, PhotoPlace};
use crate::telemetry::causes;

/// How often to look for photos to be moved without a notification.
const ROUND: Duration = Duration::from_secs(1);
/// How long moving a photo may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long no other server moves the same photo; after a failure, it is moved again then.
const LEASE: Duration = Duration::from_secs(30);

impl CardImages {
    /// Moves the photos of reports that were hidden, shown again or erased to where they belong, within the time of a request. A
    /// photo that cannot be moved now is moved later, by any server.
    pub async fn settle(&self) {
        // What is left is moved by `keep_settled`.
        let _ = time::timeout(self.timeout, self.settle_all()).await;
    }

    async fn settle_all(&self) {
        loop {
            match self.store.take_photo_move(LEASE).await {
                Ok(Some(order)) => match self.carry_out(&order).await {
                    Ok(()) => {}
                    Err(ImageError::Store(error)) => return log_unless_away(&error),
                    Err(error) => {
                        tracing::warn!(photo = &*order.photo, "a photo is moved later: {}", causes(&error));
                    }
                },
                Ok(None) => return,
                Err(error) => return log_unless_away(&error),
            }
        }
    }

    /// Moves photos as long as it runs; never ends.
    pub(super) async fn keep_settled(&self) {
        loop {
            self.settle_all().await;
            time::sleep(ROUND).await;
        }
    }

    async fn carry_out(&self, order: &PhotoMove) -> Result<(), ImageError> {
        let moving = async {
            match order.to {
                PhotoPlace::Public => self.storage.show_photo(&order.photo).await,
                PhotoPlace::Hidden => self.storage.hide_photo(&order.photo).await,
                PhotoPlace::Gone => self.remove(&order.photo).await,
            }
        };
        let moved = time::timeout(PATIENCE, moving).await;
        moved.map_err(|elapsed| ImageError::Storage(elapsed.into()))??;
        Ok(self.store.end_photo_move(order).await?)
    }

    /// Deletes a photo, and the uploads of its card.
    pub(super) async fn remove(&self, photo: &str) -> Result<(), ImageError> {
        self.storage.delete_photo(photo).await?;
        let Some(card) = names::published_card(photo) else { return Ok(()) };
        self.storage.delete_uploads(|name| names::card_of_upload(name).as_ref() == Some(&card)).await
    }
}
