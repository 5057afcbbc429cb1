use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use object_store::ObjectMeta;
use rocket::futures::TryStreamExt;
use rocket::tokio::time;

use super::error::log_unless_away;
use super::{CardImages, ImageError, Uploads, names};
use crate::model::{Timestamp, Upload};
use crate::telemetry::UploadStep;
use crate::telemetry::causes;

/// How often to check whether the storage should be searched.
const ROUND: Duration = Duration::from_secs(1);
/// How often to search the storage if no uploads are expected, in case some arrived while no server ran.
const SELDOM: Duration = Duration::from_hours(1);
/// How often to search it if this service receives uploads itself, in case a server ended before it could note one.
const NOW_AND_THEN: Duration = Duration::from_mins(1);
/// How long after its address expired an upload that began in time may still arrive.
const GRACE: Duration = Duration::from_mins(5);
/// After how long to ask the store again about an upload that is still there: it may have arrived while the one before it was
/// processed.
const AGAIN: Duration = Duration::from_secs(10);
/// From this age on, an upload that this service received is no longer just being noted.
const LEFT: Duration = Duration::from_mins(1);
/// How long one search may spend deleting old uploads.
const DELETING: Duration = Duration::from_mins(1);

/// Finds uploads that the store does not know yet, and deletes those that are no longer expected.
pub(super) struct Finder<'i> {
    images: &'i CardImages,
    since: Timestamp,
    looked: Option<Instant>,
    /// Whether it was logged that the storage cannot be searched.
    failing: bool,
    /// The uploads found by the last search, and when the store was asked about each.
    seen: HashMap<String, (ObjectMeta, Instant)>,
    /// The old uploads that the storage failed to delete, and when that was last tried.
    undeleted: HashMap<String, Instant>,
}

impl<'i> Finder<'i> {
    pub(super) fn new(images: &'i CardImages) -> Self {
        Self {
            images,
            since: images.clock.now(),
            looked: None,
            failing: false,
            seen: HashMap::new(),
            undeleted: HashMap::new(),
        }
    }

    /// Searches for uploads; never ends.
    pub(super) async fn run(mut self) {
        loop {
            match self.look_if_due().await {
                Ok(()) => self.failing = false,
                Err(ImageError::Store(error)) => log_unless_away(&error),
                Err(_) if self.failing => {}
                Err(error) => {
                    self.failing = true;
                    tracing::warn!("the storage cannot be searched for uploads: {}", causes(&error));
                }
            }
            time::sleep(ROUND).await;
        }
    }

    async fn look_if_due(&mut self) -> Result<(), ImageError> {
        let rested = |rest| self.looked.is_none_or(|looked| looked.elapsed() >= rest);
        let due = match &self.images.uploads {
            Uploads::Direct => rested(NOW_AND_THEN),
            Uploads::Presigned(_) => rested(SELDOM) || self.some_are_expected().await?,
        };
        if due {
            self.look().await?;
            self.looked = Some(Instant::now());
        }
        Ok(())
    }

    async fn some_are_expected(&self) -> Result<bool, ImageError> {
        let until = self.images.store.uploads_expected_until().await?;
        Ok(until.is_some_and(|until| self.images.clock.now() < until.after(GRACE)))
    }

    async fn look(&mut self) -> Result<(), ImageError> {
        let images = self.images;
        let there: Vec<(String, ObjectMeta)> = images.storage.uploads_there().try_collect().await?;
        let mut seen = HashMap::with_capacity(there.len());
        let mut old = HashSet::new();
        for (name, object) in there {
            if self.is_left(&object, images.kept) && self.since.after(SELDOM) < images.clock.now() {
                old.insert(name);
                continue;
            }
            // An empty object takes the place of an upload that was refused.
            if object.size == 0 {
                continue;
            }
            let noted_here = matches!(images.uploads, Uploads::Direct) && !self.is_left(&object, LEFT);
            if noted_here {
                continue;
            }
            let known =
                self.seen.get(&name).filter(|(known, asked)| *known == object && asked.elapsed() < AGAIN);
            let asked = known.map(|(_, asked)| *asked);
            if asked.is_none()
                && let Some(upload) = self.upload(&name).await?
                && images.store.receive_upload(&upload, &name).await?
            {
                images.metrics.upload(UploadStep::Received);
                images.received.notify_one();
            }
            seen.insert(name, (object, asked.unwrap_or_else(Instant::now)));
        }
        self.seen = seen;
        // The next search deletes the rest.
        let _ = time::timeout(DELETING, self.delete(old)).await;
        Ok(())
    }

    /// Deletes old uploads. If the storage fails to delete one, it is left alone for an hour; the log names the first such
    /// upload.
    async fn delete(&mut self, old: HashSet<String>) {
        self.undeleted.retain(|name, tried| tried.elapsed() < SELDOM && old.contains(name));
        let mut logged = false;
        for name in old {
            if self.undeleted.contains_key(&name) {
                continue;
            }
            if let Err(error) = self.images.storage.delete_upload(&name).await {
                if !logged {
                    tracing::warn!("the old upload {name} cannot be deleted: {}", causes(&error));
                    logged = true;
                }
                self.undeleted.insert(name, Instant::now());
            }
        }
    }

    /// Returns the upload to which an object of this name can belong.
    async fn upload(&self, name: &str) -> Result<Option<Upload>, ImageError> {
        match &self.images.uploads {
            Uploads::Direct => Ok(names::upload_of(name).map(|(upload, _)| upload)),
            Uploads::Presigned(_) => match names::presigned_card(name) {
                Some(card) => Ok(self.images.store.expected_upload(&card).await?),
                None => Ok(None),
            },
        }
    }

    fn is_left(&self, object: &ObjectMeta, age: Duration) -> bool {
        Timestamp::from(object.last_modified).after(age) < self.images.clock.now()
    }
}
