use std::time::{Duration, Instant};

use rocket::futures::future::try_join_all;
use rocket::tokio::time;

use super::error::log_unless_unavailable;
use super::{CardImages, ImageError, Uploads, names};
use crate::model::{PhotoMove, PhotoPlace, ReportKey};
use crate::stores::{Resource, Revision, StoreError};
use crate::telemetry::causes;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
const MOVE_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a server reserves the move of a photo. After a failure, a server tries the move again when the lease ends.
const LEASE: Duration = Duration::from_secs(30);
/// The number of concurrent moves. More than one, because a move mostly waits for the storage.
const CONCURRENCY: usize = 4;
/// Retry interval while another server moves the photo.
const CONFLICT_RETRY: Duration = Duration::from_millis(20);

impl CardImages {
    /// Moves the photo of a hidden or restored report within the time limit of a request. If this fails, a worker retries.
    pub(crate) async fn move_photo_of(&self, report: ReportKey) {
        let take = async {
            loop {
                match self.store.take_photo_move_of(report, LEASE).await {
                    // Another server is moving the photo.
                    Err(StoreError::Conflict { .. }) => time::sleep(CONFLICT_RETRY).await,
                    taken => return taken,
                }
            }
        };
        let task = async {
            match take.await {
                Ok(None) => {}
                Ok(Some(job)) => match self.run_move(&job).await {
                    Ok(()) => {}
                    Err(ImageError::Store(error)) => log_unless_unavailable(&error),
                    Err(error) => log_failed_move(&job, &error),
                },
                Err(error) => log_unless_unavailable(&error),
            }
        };
        let _ = time::timeout(self.timeout, task).await;
    }

    /// Moves the photos of hidden, restored and erased reports. Never returns.
    pub(super) async fn move_photos(&self) {
        let mut settled: Option<(Revision, Instant)> = None;
        loop {
            // Each new move changes the revision of the reports. While it stays the same, look for moves only once per lease.
            if let Ok(revision) = self.store.revision(Resource::Reports).await
                && settled.is_none_or(|(last, at)| last != revision || at.elapsed() >= LEASE)
            {
                let run = try_join_all((0..CONCURRENCY).map(|_| self.run_pending_moves())).await;
                settled = run.inspect_err(log_unless_unavailable).is_ok().then(|| (revision, Instant::now()));
            }
            time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Runs all pending moves. Logs only the first failure; failed moves are retried when their leases end.
    async fn run_pending_moves(&self) -> Result<(), StoreError> {
        let mut failed = 0_u64;
        while let Some(job) = self.store.take_photo_move(LEASE).await? {
            match self.run_move(&job).await {
                Ok(()) => {}
                Err(ImageError::Store(error)) => return Err(error),
                Err(error) => {
                    if failed == 0 {
                        log_failed_move(&job, &error);
                    }
                    failed += 1;
                }
            }
        }
        if failed > 1 {
            tracing::warn!(photos = failed, "cannot move photos; retrying");
        }
        Ok(())
    }

    /// Moves the photo within a timeout, then removes the job from the store.
    async fn run_move(&self, job: &PhotoMove) -> Result<(), ImageError> {
        let move_photo = async {
            match job.to {
                PhotoPlace::Public => self.storage.show_photo(&job.photo).await,
                PhotoPlace::Hidden => self.storage.hide_photo(&job.photo).await,
                PhotoPlace::Gone => self.remove(&job.photo).await,
            }
        };
        let moved = time::timeout(MOVE_TIMEOUT, move_photo).await;
        moved.map_err(|elapsed| ImageError::Storage(elapsed.into()))??;
        Ok(self.store.end_photo_move(job).await?)
    }

    /// Deletes the photo and all uploads of its card.
    pub(super) async fn remove(&self, photo: &str) -> Result<(), ImageError> {
        self.storage.delete_photo(photo).await?;
        let Some(card) = names::published_card(photo) else { return Ok(()) };
        match &self.uploads {
            Uploads::Presigned(_) => Ok(self.storage.delete_upload(&names::presigned(&card)).await?),
            // List the uploads, because their names have random suffixes.
            Uploads::Direct => {
                self.storage
                    .delete_uploads(|name| {
                        names::parse_upload(name).is_some_and(|(upload, _)| upload.card == card)
                    })
                    .await
            }
        }
    }
}

fn log_failed_move(job: &PhotoMove, error: &ImageError) {
    tracing::warn!(photo = &*job.photo, "cannot move a photo; retrying: {}", causes(error));
}
