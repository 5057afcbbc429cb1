use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use object_store::ObjectMeta;
use rocket::fairing::AdHoc;
use rocket::futures::future::{join_all, join3};
use rocket::tokio::task::spawn_blocking;
use rocket::tokio::{select, time};

use super::error::log_unless_away;
use super::finder::Finder;
use super::{CardImages, ImageError, names, photo};
use crate::runtime::run_in_background;
use crate::stores::{StoreError, TakenUpload};
use crate::telemetry::UploadStep;
use crate::telemetry::causes;

/// How often to look for work without a notification.
const ROUND: Duration = Duration::from_secs(1);
/// How long an upload stays reserved after the last sign of life of its worker. A crash delays an image by this time.
const LEASE: Duration = Duration::from_secs(5);
/// How often a worker gives a sign of life.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
/// How long reading an upload may take, and how long publishing an image may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// How many times an upload is tried, over more than an hour in total.
const ATTEMPTS: u32 = 10;
/// The longest wait between attempts.
const LONGEST_WAIT: Duration = Duration::from_mins(15);
/// How many uploads are processed at once at most. Each takes a CPU, and memory as described in [`photo`].
const MOST_HANDS: usize = 4;

/// Finds uploads, makes photos from them and publishes these, and moves photos of hidden and erased reports, as long as it
/// runs.
///
/// Any number of workers can share the uploads in one store.
#[derive(Debug)]
pub(crate) struct Worker {
    images: Arc<CardImages>,
}

/// Why an upload was not published.
enum Failure {
    /// It never will be. Contains the metadata of the file read, unless the file is gone.
    Refused(String, Option<ObjectMeta>),
    /// A later attempt may succeed.
    Later(String),
}

impl From<ImageError> for Failure {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::NotFound => Self::Refused("it is gone".to_owned(), None),
            error => Self::Later(causes(&error)),
        }
    }
}

/// Returns whether there is no such card any more.
fn is_gone<T>(card: Result<T, StoreError>) -> Result<bool, ImageError> {
    match card {
        Ok(_) => Ok(false),
        Err(StoreError::NotFound { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

impl Worker {
    /// Makes a worker for these images.
    #[must_use]
    pub(crate) fn new(images: Arc<CardImages>) -> Self {
        Self { images }
    }

    /// Runs the worker while the server runs. Work in progress at shutdown is done by another server, or after the next start.
    #[must_use]
    pub(crate) fn fairing(self) -> AdHoc {
        AdHoc::on_liftoff("Images", |rocket| Box::pin(async move { run_in_background(rocket, self.run()) }))
    }

    async fn run(self) {
        // The other half of the CPUs is for requests.
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let hands = (0..(processors / 2).clamp(1, MOST_HANDS)).map(|_| self.work());
        join3(join_all(hands), Finder::new(&self.images).run(), self.images.move_photos()).await;
    }

    /// Processes one upload after the other; never ends.
    async fn work(&self) {
        loop {
            match self.images.store.take_upload(LEASE).await {
                Ok(Some(taken)) => self.work_on(&taken).await,
                Ok(None) => {
                    // A worker that was not notified looks for work itself after a while.
                    let _ = time::timeout(ROUND, self.images.received.notified()).await;
                }
                Err(error) => {
                    log_unless_away(&error);
                    time::sleep(ROUND).await;
                }
            }
        }
    }

    async fn work_on(&self, taken: &TakenUpload) {
        let done = select! {
            done = self.publish(taken) => done,
            () = self.give_signs_of_life(taken) => Ok(()),
        };
        let settled = match done {
            Ok(()) => Ok(()),
            Err(Failure::Later(reason)) if taken.attempt < ATTEMPTS => self.put_off(taken, &reason).await,
            Err(Failure::Later(reason)) => {
                // Deleted first, so that it is not found again. If that fails, the upload is deleted when it is old.
                let _ = self.images.storage.delete_upload(&taken.object).await;
                self.refuse(taken, &reason).await
            }
            Err(Failure::Refused(reason, looked_at)) => {
                if let Some(looked_at) = looked_at {
                    let _ = self.images.storage.remove_unchanged(&taken.object, looked_at).await;
                }
                self.refuse(taken, &reason).await
            }
        };
        if let Err(error) = settled {
            // When the lease ends, any worker can take it.
            log_unless_away(&error);
        }
    }

    async fn publish(&self, TakenUpload { upload, object, .. }: &TakenUpload) -> Result<(), Failure> {
        let images = &self.images;
        let late = |elapsed: time::error::Elapsed| Failure::Later(elapsed.to_string());
        let (file, looked_at) = time::timeout(PATIENCE, self.read(object)).await.map_err(late)??;
        let refused = |reason| Failure::Refused(reason, Some(looked_at.clone()));
        let max_side = images.max_side;
        // It goes on even if nothing waits for it any more; the limits for decoding bound its time.
        let prepared = spawn_blocking(move || photo::prepare(&file, max_side)).await;
        let photo = prepared
            .map_err(|_panic| refused("it cannot be decoded".to_owned()))?
            .map_err(|reason| refused(reason.to_string()))?;
        let name = names::published(&upload.card);
        let publishing = images.storage.publish(&name, photo.jpeg);
        time::timeout(PATIENCE, publishing).await.map_err(late)?.map_err(ImageError::from)?;
        if images.store.publish_image(upload, &name).await.map_err(ImageError::from)? {
            images.metrics.upload(UploadStep::Published);
        } else if is_gone(images.store.card(&upload.card).await)? {
            // The report was erased meanwhile.
            images.remove(&name).await?;
        }
        // If that fails, the upload is deleted when it is old.
        let _ = images.storage.delete_upload(object).await;
        Ok(())
    }

    async fn read(&self, object: &str) -> Result<(Vec<u8>, ObjectMeta), Failure> {
        let found = self.images.storage.read_upload(object).await?;
        let looked_at = found.meta.clone();
        if self.images.max_bytes < looked_at.size {
            let reason = format!("it is of {} bytes, more than {}", looked_at.size, self.images.max_bytes);
            return Err(Failure::Refused(reason, Some(looked_at)));
        }
        Ok((found.bytes().await.map_err(ImageError::from)?.into(), looked_at))
    }

    /// Renews the lease; never ends.
    async fn give_signs_of_life(&self, taken: &TakenUpload) {
        loop {
            time::sleep(SIGN_OF_LIFE).await;
            // If that fails, another worker may process it too; then one of both publishes it.
            let _ = self.images.store.postpone_upload(&taken.upload, LEASE).await;
        }
    }

    async fn put_off(
        &self,
        TakenUpload { upload, attempt, .. }: &TakenUpload,
        reason: &str,
    ) -> Result<(), StoreError> {
        let wait = Duration::from_secs(4_u64.saturating_pow(*attempt)).min(LONGEST_WAIT);
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
