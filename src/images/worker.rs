use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use object_store::ObjectMeta;
use rocket::fairing::AdHoc;
use rocket::futures::future::{join, join_all};
use rocket::tokio::task::spawn_blocking;
use rocket::tokio::{select, time};

use super::error::log_unless_away;
use super::finder::Finder;
use super::{CardImages, ImageError, names, photo};
use crate::stores::{StoreError, TakenUpload};
use crate::tasks::run_in_background;
use crate::telemetry::UploadStep;
use crate::telemetry::causes;

/// How often work is looked for that nobody has told of.
const ROUND: Duration = Duration::from_secs(1);
/// For how long work is nobody else's while nothing is heard of who has taken it: what a crash delays an image by.
const LEASE: Duration = Duration::from_secs(5);
/// How often something is heard.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
/// How long reading an upload, and publishing an image, may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often an upload is tried, over more than an hour in all.
const ATTEMPTS: u32 = 10;
/// What the wait between attempts grows to.
const LONGEST_WAIT: Duration = Duration::from_mins(15);
/// How many uploads are worked on at once at most: each takes a processor, and memory as [`photo`] says.
const MOST_HANDS: usize = 4;

/// Finds uploads, makes photos of them and publishes these, for as long as it runs.
///
/// Any number of workers share the work of one store.
#[derive(Debug)]
pub struct Worker {
    images: Arc<CardImages>,
}

/// Why an upload was not published.
enum Failure {
    /// It never will be; with what was looked at, unless it is gone.
    Refused(String, Option<ObjectMeta>),
    /// It may be another time.
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

impl Worker {
    /// A worker on these images.
    #[must_use]
    pub fn new(images: Arc<CardImages>) -> Self {
        Self { images }
    }

    /// Runs the worker beside a server, from when that listens until it is told to stop. What is under way then is done by
    /// another server, or after the next start.
    #[must_use]
    pub fn fairing(self) -> AdHoc {
        AdHoc::on_liftoff("Images", |rocket| Box::pin(async move { run_in_background(rocket, self.run()) }))
    }

    async fn run(self) {
        // Half of the processors are for those who ask.
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let hands = (0..(processors / 2).clamp(1, MOST_HANDS)).map(|_| self.work());
        join(join_all(hands), Finder::new(&self.images).run()).await;
    }

    /// One upload after the other.
    async fn work(&self) {
        loop {
            match self.images.store.take_upload(LEASE).await {
                Ok(Some(taken)) => self.work_on(&taken).await,
                Ok(None) => {
                    // Whoever is not told looks for itself after a while.
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
                // First it is deleted, so that it is not found again; one that stays is deleted when it is old.
                let _ = self.images.storage.delete_upload(&taken.object).await;
                self.refuse(taken, &reason).await
            }
            Err(Failure::Refused(reason, looked_at)) => {
                if let Some(looked_at) = looked_at {
                    let _ = self.images.storage.delete_unchanged(&taken.object, &looked_at).await;
                }
                self.refuse(taken, &reason).await
            }
        };
        if let Err(error) = settled {
            // It is anybody's again when the lease ends.
            log_unless_away(&error);
        }
    }

    async fn publish(&self, TakenUpload { upload, object, .. }: &TakenUpload) -> Result<(), Failure> {
        let images = &self.images;
        let late = |elapsed: time::error::Elapsed| Failure::Later(elapsed.to_string());
        let (file, looked_at) = time::timeout(PATIENCE, self.read(object)).await.map_err(late)??;
        let refused = |reason| Failure::Refused(reason, Some(looked_at.clone()));
        let max_side = images.max_side;
        // It goes on when nobody waits for it any more, and is bounded by what is decoded at all.
        let prepared = spawn_blocking(move || photo::prepare(&file, max_side)).await;
        let photo = prepared
            .map_err(|_panic| refused("it cannot be decoded".to_owned()))?
            .map_err(|reason| refused(reason.to_string()))?;
        let name = names::published(&upload.card);
        let publishing = images.storage.publish(&name, photo.jpeg);
        time::timeout(PATIENCE, publishing).await.map_err(late)?.map_err(ImageError::from)?;
        if images.store.publish_image(upload, &name).await.map_err(ImageError::from)? {
            images.metrics.upload(UploadStep::Published);
        }
        // One that stays is deleted when it is old.
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

    /// Keeps the lease; never ends.
    async fn give_signs_of_life(&self, taken: &TakenUpload) {
        loop {
            time::sleep(SIGN_OF_LIFE).await;
            // When it is not heard, another will try, too, and one of both publishes.
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
