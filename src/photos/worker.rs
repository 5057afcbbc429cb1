use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use object_store::ObjectMeta;
use rocket::fairing::AdHoc;
use rocket::futures::future::{join_all, join3};
use rocket::tokio::task::spawn_blocking;
use rocket::tokio::{select, time};

use super::error::log_unless_unavailable;
use super::finder::Finder;
use super::{CardImages, ImageError, names, photo};
use crate::runtime::run_in_background;
use crate::stores::{StoreError, TakenUpload};
use crate::telemetry::UploadStep;
use crate::telemetry::causes;

/// How often a worker polls the store if nothing wakes it.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long an upload stays reserved without renewal. After a crash, an image is delayed by this time.
const LEASE: Duration = Duration::from_secs(5);
const LEASE_RENEWAL: Duration = Duration::from_secs(1);
const STORAGE_TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum number of attempts for each upload. Together they take more than an hour.
const MAX_ATTEMPTS: u32 = 10;
const MAX_BACKOFF: Duration = Duration::from_mins(15);
/// The maximum number of uploads processed concurrently. Each takes a CPU, and memory as described in [`photo`].
const MAX_WORKERS: usize = 4;

/// Finds uploads, makes and publishes photos, and moves photos of hidden and erased reports. Several workers can share a store.
#[derive(Debug)]
pub(crate) struct Worker {
    images: Arc<CardImages>,
}

enum Failure {
    /// A retry never succeeds. The second field has the metadata of the file, unless the file no longer exists.
    Permanent(String, Option<ObjectMeta>),
    /// A retry may succeed.
    Temporary(String),
}

impl From<ImageError> for Failure {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::NotFound => Self::Permanent("it is gone".to_owned(), None),
            error => Self::Temporary(causes(&error)),
        }
    }
}

/// Whether the store has no such card. Returns any other error of the store.
fn is_missing<T>(card: Result<T, StoreError>) -> Result<bool, ImageError> {
    match card {
        Ok(_) => Ok(false),
        Err(StoreError::NotFound { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

impl Worker {
    #[must_use]
    pub(crate) fn new(images: Arc<CardImages>) -> Self {
        Self { images }
    }

    /// Runs the worker with the server. Work interrupted by a shutdown is continued by another server, or after the next start.
    #[must_use]
    pub(crate) fn fairing(self) -> AdHoc {
        AdHoc::on_liftoff("Images", |rocket| Box::pin(async move { run_in_background(rocket, self.run()) }))
    }

    async fn run(self) {
        // Leave half of the CPUs to requests.
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let workers = (0..(processors / 2).clamp(1, MAX_WORKERS)).map(|_| self.process_uploads());
        join3(join_all(workers), Finder::new(&self.images).run(), self.images.move_photos()).await;
    }

    async fn process_uploads(&self) {
        loop {
            match self.images.store.take_upload(LEASE).await {
                Ok(Some(taken)) => self.process(&taken).await,
                Ok(None) => {
                    let _ = time::timeout(POLL_INTERVAL, self.images.received.notified()).await;
                }
                Err(error) => {
                    log_unless_unavailable(&error);
                    time::sleep(POLL_INTERVAL).await;
                }
            }
        }
    }

    /// Publishes an upload, and renews its lease meanwhile. Retries after a temporary failure, up to [`MAX_ATTEMPTS`].
    async fn process(&self, taken: &TakenUpload) {
        let result = select! {
            result = self.publish(taken) => result,
            () = self.renew_lease(taken) => Ok(()),
        };
        let settled = match result {
            Ok(()) => Ok(()),
            Err(Failure::Temporary(reason)) if taken.attempt < MAX_ATTEMPTS => {
                self.postpone(taken, &reason).await
            }
            Err(Failure::Temporary(reason)) => {
                // Delete the upload first, so that the finder does not record it again. After an error, the finder deletes it.
                let _ = self.images.storage.delete_upload(&taken.object).await;
                self.refuse(taken, &reason).await
            }
            Err(Failure::Permanent(reason, meta)) => {
                if let Some(meta) = meta {
                    let _ = self.images.storage.remove_unchanged(&taken.object, meta).await;
                }
                self.refuse(taken, &reason).await
            }
        };
        if let Err(error) = settled {
            log_unless_unavailable(&error);
        }
    }

    /// Makes the photo and publishes it, then deletes the upload. Removes the photo again if its report was erased meanwhile.
    async fn publish(&self, TakenUpload { upload, object, .. }: &TakenUpload) -> Result<(), Failure> {
        let images = &self.images;
        let timed_out = |elapsed: time::error::Elapsed| Failure::Temporary(elapsed.to_string());
        let (file, meta) = time::timeout(STORAGE_TIMEOUT, self.read(object)).await.map_err(timed_out)??;
        let permanent = |reason| Failure::Permanent(reason, Some(meta.clone()));
        let max_side = images.max_side;
        // This task cannot be cancelled, but the decoding limits bound its time.
        let prepared = spawn_blocking(move || photo::prepare(&file, max_side)).await;
        let photo = prepared
            .map_err(|_panic| permanent("it cannot be decoded".to_owned()))?
            .map_err(|reason| permanent(reason.to_string()))?;
        let name = names::published(&upload.card);
        let publish = images.storage.publish(&name, photo.jpeg);
        time::timeout(STORAGE_TIMEOUT, publish).await.map_err(timed_out)?.map_err(ImageError::from)?;
        if images.store.publish_image(upload, &name).await.map_err(ImageError::from)? {
            images.metrics.upload(UploadStep::Published);
        } else if is_missing(images.store.card(&upload.card).await)? {
            // The report was erased while the photo was made.
            images.remove(&name).await?;
        }
        let _ = images.storage.delete_upload(object).await;
        Ok(())
    }

    async fn read(&self, object: &str) -> Result<(Vec<u8>, ObjectMeta), Failure> {
        let object = self.images.storage.read_upload(object).await?;
        let meta = object.meta.clone();
        if self.images.max_bytes < meta.size {
            let reason = format!("it is of {} bytes, more than {}", meta.size, self.images.max_bytes);
            return Err(Failure::Permanent(reason, Some(meta)));
        }
        Ok((object.bytes().await.map_err(ImageError::from)?.into(), meta))
    }

    async fn renew_lease(&self, taken: &TakenUpload) {
        loop {
            time::sleep(LEASE_RENEWAL).await;
            // If this fails, another worker may process the upload too. Only one of them publishes it.
            let _ = self.images.store.postpone_upload(&taken.upload, LEASE).await;
        }
    }

    async fn postpone(
        &self,
        TakenUpload { upload, attempt, .. }: &TakenUpload,
        reason: &str,
    ) -> Result<(), StoreError> {
        let wait = Duration::from_secs(4_u64.saturating_pow(*attempt)).min(MAX_BACKOFF);
        self.images.metrics.upload(UploadStep::Postponed);
        tracing::warn!(%upload, attempt, ?wait, "an image is not published yet: {reason}");
        self.images.store.postpone_upload(upload, wait).await
    }

    async fn refuse(&self, taken: &TakenUpload, reason: &str) -> Result<(), StoreError> {
        self.images.metrics.upload(UploadStep::Refused);
        tracing::warn!(upload = %taken.upload, attempt = taken.attempt, "an upload is refused: {reason}");
        self.images.store.refuse_upload(&taken.upload).await
    }
}
