use std::time::{Duration, Instant};

use rocket::futures::future::try_join_all;
use rocket::tokio::time;

use super::error::log_unless_away;
use super::{CardImages, ImageError, Uploads, names};
use crate::model::{PhotoMove, PhotoPlace, ReportKey};
use crate::stores::{Resource, Revision, StoreError};
use crate::telemetry::causes;

/// How often to check whether there is an order.
const ROUND: Duration = Duration::from_secs(1);
/// How long moving a photo may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long no other server moves the same photo; after a failure, it is moved again then.
const LEASE: Duration = Duration::from_secs(30);
/// How many photos are moved at once: most of the time goes by waiting for the storage.
const AT_ONCE: usize = 4;
/// How often a request checks whether another has moved its photo.
const SOON: Duration = Duration::from_millis(20);

impl CardImages {
    /// Moves the photo of a report that was hidden or shown again to where it belongs, within the time of a request. If that
    /// fails, a server moves it later.
    pub(crate) async fn settle(&self, report: ReportKey) {
        let taking = async {
            loop {
                match self.store.take_photo_move_of(report, LEASE).await {
                    // A server has been faster.
                    Err(StoreError::Conflict { .. }) => time::sleep(SOON).await,
                    taken => return taken,
                }
            }
        };
        let moving = async {
            match taking.await {
                Ok(None) => {}
                Ok(Some(order)) => match self.carry_out(&order).await {
                    Ok(()) => {}
                    Err(ImageError::Store(error)) => log_unless_away(&error),
                    Err(error) => log_later(&order, &error),
                },
                Err(error) => log_unless_away(&error),
            }
        };
        let _ = time::timeout(self.timeout, moving).await;
    }

    /// Moves the photos of reports that were hidden, shown again or erased to where they belong; never ends.
    pub(super) async fn move_photos(&self) {
        let mut settled: Option<(Revision, Instant)> = None;
        loop {
            // An order changes the revision. While nothing changes, this costs no query.
            if let Ok(revision) = self.store.revision(Resource::Reports).await
                && settled.is_none_or(|(last, at)| last != revision || at.elapsed() >= LEASE)
            {
                let all = try_join_all((0..AT_ONCE).map(|_| self.settle_all())).await;
                settled = all.inspect_err(log_unless_away).is_ok().then(|| (revision, Instant::now()));
            }
            time::sleep(ROUND).await;
        }
    }

    /// Moves photos until no order is left. If the storage fails, this is logged once, and the orders can be taken again when
    /// their leases have ended.
    async fn settle_all(&self) -> Result<(), StoreError> {
        let mut failed = 0_u64;
        while let Some(order) = self.store.take_photo_move(LEASE).await? {
            match self.carry_out(&order).await {
                Ok(()) => {}
                Err(ImageError::Store(error)) => return Err(error),
                Err(error) => {
                    if failed == 0 {
                        log_later(&order, &error);
                    }
                    failed += 1;
                }
            }
        }
        if failed > 1 {
            tracing::warn!(photos = failed, "photos are moved later");
        }
        Ok(())
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
        match &self.uploads {
            Uploads::Presigned(_) => Ok(self.storage.delete_upload(&names::presigned(&card)).await?),
            // Their names have random endings.
            Uploads::Direct => {
                self.storage
                    .delete_uploads(|name| {
                        names::upload_of(name).is_some_and(|(upload, _)| upload.card == card)
                    })
                    .await
            }
        }
    }
}

fn log_later(order: &PhotoMove, error: &ImageError) {
    tracing::warn!(photo = &*order.photo, "a photo is moved later: {}", causes(error));
}
