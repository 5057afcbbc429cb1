use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use object_store::ObjectMeta;
use rocket::futures::TryStreamExt;
use rocket::tokio::time;

use super::error::log_unless_unavailable;
use super::{CardImages, ImageError, Uploads, names};
use crate::model::{Timestamp, Upload};
use crate::telemetry::UploadStep;
use crate::telemetry::causes;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of searches while no uploads are expected, to find uploads that arrived while no server ran.
const IDLE_INTERVAL: Duration = Duration::from_hours(1);
/// Interval of searches if this service receives uploads, to find uploads that a crashed server did not record.
const DIRECT_INTERVAL: Duration = Duration::from_mins(1);
/// How long an upload may still arrive after its address expired.
const GRACE: Duration = Duration::from_mins(5);
/// How long until the finder offers an upload to the store again: the store may have been busy with the card's previous upload.
const RECHECK_AFTER: Duration = Duration::from_secs(10);
/// An unrecorded upload of this age is orphaned: the server that received it has crashed.
const ORPHAN_AGE: Duration = Duration::from_mins(1);
/// Time limit for deleting old uploads in one search.
const DELETE_TIMEOUT: Duration = Duration::from_mins(1);

/// Finds uploads that the store has not recorded, and deletes expired ones.
pub(super) struct Finder<'i> {
    images: &'i CardImages,
    started_at: Timestamp,
    last_search: Option<Instant>,
    failing: bool,
    /// The uploads of the last search, and when the store was last queried about each.
    seen: HashMap<String, (ObjectMeta, Instant)>,
    /// Uploads that could not be deleted, and the time of the last attempt.
    undeleted: HashMap<String, Instant>,
}

impl<'i> Finder<'i> {
    pub(super) fn new(images: &'i CardImages) -> Self {
        Self {
            images,
            started_at: images.clock.now(),
            last_search: None,
            failing: false,
            seen: HashMap::new(),
            undeleted: HashMap::new(),
        }
    }

    /// Searches forever. Of repeated failures, logs only the first.
    pub(super) async fn run(mut self) {
        loop {
            match self.search_if_due().await {
                Ok(()) => self.failing = false,
                Err(ImageError::Store(error)) => log_unless_unavailable(&error),
                Err(_) if self.failing => {}
                Err(error) => {
                    self.failing = true;
                    tracing::warn!("the storage cannot be searched for uploads: {}", causes(&error));
                }
            }
            time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Searches if the last search is too long ago. With presigned addresses, searches more often while uploads are expected.
    async fn search_if_due(&mut self) -> Result<(), ImageError> {
        let is_due_after =
            |interval: Duration| self.last_search.is_none_or(|searched| searched.elapsed() >= interval);
        let due = match &self.images.uploads {
            Uploads::Direct => is_due_after(DIRECT_INTERVAL),
            Uploads::Presigned(_) => is_due_after(IDLE_INTERVAL) || self.expects_uploads().await?,
        };
        if due {
            self.search().await?;
            self.last_search = Some(Instant::now());
        }
        Ok(())
    }

    async fn expects_uploads(&self) -> Result<bool, ImageError> {
        let until = self.images.store.uploads_expected_until().await?;
        Ok(until.is_some_and(|until| self.images.clock.now() < until.saturating_add(GRACE)))
    }

    async fn search(&mut self) -> Result<(), ImageError> {
        let images = self.images;
        let objects: Vec<(String, ObjectMeta)> = images.storage.list_uploads().try_collect().await?;
        let mut seen = HashMap::with_capacity(objects.len());
        let mut old = HashSet::new();
        for (name, object) in objects {
            if self.is_older(&object, images.retention)
                && self.started_at.saturating_add(IDLE_INTERVAL) < images.clock.now()
            {
                old.insert(name);
                continue;
            }
            // An empty object replaces a refused upload (see `Storage::remove_unchanged`).
            if object.size == 0 {
                continue;
            }
            let noted_here = matches!(images.uploads, Uploads::Direct) && !self.is_older(&object, ORPHAN_AGE);
            if noted_here {
                continue;
            }
            let previous = self
                .seen
                .get(&name)
                .filter(|(previous, checked_at)| *previous == object && checked_at.elapsed() < RECHECK_AFTER);
            let checked_at = previous.map(|(_, checked_at)| *checked_at);
            if checked_at.is_none()
                && let Some(upload) = self.upload(&name).await?
                && images.store.receive_upload(&upload, &name).await?
            {
                images.metrics.upload(UploadStep::Received);
                images.received.notify_one();
            }
            seen.insert(name, (object, checked_at.unwrap_or_else(Instant::now)));
        }
        self.seen = seen;
        let _ = time::timeout(DELETE_TIMEOUT, self.delete(old)).await;
        Ok(())
    }

    /// Deletes old uploads. After a failure, waits an hour before trying that upload again. Logs the first failure only.
    async fn delete(&mut self, old: HashSet<String>) {
        self.undeleted.retain(|name, tried| tried.elapsed() < IDLE_INTERVAL && old.contains(name));
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

    /// Returns the upload in the object with this name; `None` if the name is invalid, or the store expects no such upload.
    async fn upload(&self, name: &str) -> Result<Option<Upload>, ImageError> {
        match &self.images.uploads {
            Uploads::Direct => Ok(names::parse_upload(name).map(|(upload, _)| upload)),
            Uploads::Presigned(_) => match names::presigned_card(name) {
                Some(card) => Ok(self.images.store.expected_upload(&card).await?),
                None => Ok(None),
            },
        }
    }

    fn is_older(&self, object: &ObjectMeta, age: Duration) -> bool {
        Timestamp::from(object.last_modified).saturating_add(age) < self.images.clock.now()
    }
}
