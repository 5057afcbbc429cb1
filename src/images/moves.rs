use std::time::{Duration, Instant};

use rocket::tokio::time;

use super::error::log_unless_away;
use super::{CardImages, ImageError, names};
use crate::model::{PhotoMove, PhotoPlace};
use crate::stores::{Resource, Revision};
use crate::telemetry::causes;

/// How long moving a photo may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long no other server moves the same photo; after a failure, it is moved again then.
const LEASE: Duration = Duration::from_secs(30);

impl CardImages {
    /// Moves the photos of reports that were hidden, shown again or erased to where they belong, within the time of a request. The
    /// worker of any server moves the others later.
    pub async fn settle(&self) {
        let _ = time::timeout(self.timeout, self.settle_all()).await;
    }

    /// Moves photos if there may be orders since the `last` time, or a move has failed.
    pub(super) async fn settle_if_due(&self, last: &mut Option<(Revision, Instant)>) {
        // An order changes the revision. While nothing changes, this costs no query.
        let Ok(revision) = self.store.revision(Resource::Reports).await else { return };
        if last.is_none_or(|(settled, at)| settled != revision || at.elapsed() >= LEASE) {
            self.settle().await;
            *last = Some((revision, Instant::now()));
        }
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
