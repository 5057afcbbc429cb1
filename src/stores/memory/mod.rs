//! The store in memory: all data is in one process and is lost when it ends.
//!
//! What changes together is one immutable snapshot behind an atomic pointer. A reader takes the pointer and goes on
//! reading that snapshot. A writer, one at a time, makes the next snapshot from the current one and swaps the pointer.
//! Snapshots share their unchanged parts (persistent collections), so a write costs O(log n).

mod area_log;
mod floods;
mod gauges;
mod intake;
mod snapshot;

use std::error::Error;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use async_trait::async_trait;

use self::floods::Floods;
use self::gauges::Gauges;
use self::intake::{Intake, Stored};
pub(super) use self::intake::{Moderated, Pending};
use super::{
    CardStore, ImageStore, KeptKey, KeyStore, OpenError, OpenStore, OpenedStore, Overview, PlaceStore,
    Resource, Revision, ServiceState, ServiceStore, SourceStore, Store, StoreError, StoreSettings, Versioned,
};
use crate::datasets::Dataset;
use crate::model::{CardId, Clock, Gauge, Places, Report, Timestamp, Upload};
use crate::tasks::{Stop, Stopped, off_thread};

/// The revisions of all resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Revisions {
    pub(super) floods: Revision,
    pub(super) reports: Revision,
    pub(super) gauges: Revision,
    pub(super) places: Revision,
}

/// A [`Store`] in memory, filled from a [`Dataset`].
#[derive(Debug)]
pub struct MemoryStore {
    places: Arc<Places>,
    /// Places never change while the store is open.
    places_revision: Revision,
    floods: Floods,
    intake: Intake,
    gauges: Gauges,
    service_state: ServiceState,
    clock: Arc<dyn Clock>,
    /// The counting of revisions, which begins with the store.
    epoch: u64,
}

impl MemoryStore {
    /// Creates a store that holds `dataset` and takes the time from `clock`.
    #[must_use]
    pub fn new(dataset: Dataset, clock: Arc<dyn Clock>) -> Self {
        let stored = Stored {
            reports: dataset.reports,
            hidden: dataset.hidden,
            erased: dataset.erased,
            log: dataset.moderation,
            cards: dataset.cards,
            posts: dataset.partner_posts,
        };
        Self {
            floods: Floods::new(Arc::clone(dataset.places.areas()), dataset.flood_log),
            intake: Intake::new(stored, clock.now()),
            gauges: Gauges::new(dataset.gauges),
            service_state: ServiceState::new(Arc::clone(&clock)),
            places: Arc::new(dataset.places),
            places_revision: Revision(0),
            clock,
            epoch: RandomState::new().hash_one(0),
        }
    }

    /// Goes on with a state of the service and revisions that were stored. Its epoch is a new one: revisions that were lost
    /// may be given again.
    pub(super) fn going_on(self, service_state: ServiceState, revisions: Revisions) -> Self {
        Self {
            floods: self.floods.at(revisions.floods),
            intake: self.intake.at(revisions.reports),
            gauges: self.gauges.at(revisions.gauges),
            places_revision: revisions.places,
            service_state,
            ..self
        }
    }

    /// Continues the epoch of a store whose changes this one has, too.
    pub(super) fn in_epoch_of(self, before: &Self) -> Self {
        Self { epoch: before.epoch, ..self }
    }

    /// Returns a store with the same content. Changes of one do not show in the other. Costs little, whatever the content is,
    /// because the two share it until it is changed.
    pub(super) fn fork(&self) -> Self {
        Self {
            places: Arc::clone(&self.places),
            places_revision: self.places_revision,
            floods: self.floods.fork(),
            intake: self.intake.fork(),
            gauges: self.gauges.fork(),
            service_state: self.service_state.fork(),
            clock: Arc::clone(&self.clock),
            epoch: self.epoch,
        }
    }

    /// Goes on with photos to be moved.
    pub(super) fn with_moves(self, moves: Vec<(Box<str>, Pending)>) -> Self {
        Self { intake: self.intake.with_moves(moves), ..self }
    }

    /// Replaces the API keys.
    pub(super) fn with_keys(self, keys: Vec<KeptKey>, revision: Revision) -> Self {
        Self { service_state: self.service_state.with_keys(keys, revision), ..self }
    }

    pub(super) fn revisions(&self) -> Revisions {
        Revisions {
            floods: self.floods.revision(),
            reports: self.intake.revision(),
            gauges: self.gauges.revision(),
            places: self.places_revision,
        }
    }

    /// Returns the report with the highest key.
    pub(super) fn last_report(&self) -> Option<Arc<Report>> {
        self.intake.last_report()
    }

    /// Returns a gauge without its readings.
    pub(super) fn gauge(&self, id: &str) -> Option<Arc<Gauge>> {
        self.gauges.find(id)
    }

    /// Returns the state of the service.
    pub(super) fn service(&self) -> &ServiceState {
        &self.service_state
    }
}

/// Runs a read that may take long outside the threads that serve requests. The read checks at each item whether a
/// caller still waits for it.
async fn read_long<T: Send + 'static>(
    read: impl FnOnce(&Stop) -> Result<T, Stopped> + Send + 'static,
) -> Result<T, StoreError> {
    let failed = |source: Box<dyn Error + Send + Sync>| StoreError::Backend { source };
    off_thread(read).await.map_err(|error| failed(error.into()))?.map_err(|stopped| failed(stopped.into()))
}

/// Returns how many items there are, counting no further than `most`.
fn counted<T>(items: impl Iterator<Item = T>, most: u64, stop: &Stop) -> Result<u64, Stopped> {
    let mut count = 0;
    for _ in items {
        stop.check()?;
        if count == most {
            break;
        }
        count += 1;
    }
    Ok(count)
}

impl fmt::Display for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("memory")
    }
}

#[async_trait]
impl PlaceStore for MemoryStore {
    async fn places(&self) -> Result<Versioned<Arc<Places>>, StoreError> {
        Ok(Versioned::at(self.places_revision, Arc::clone(&self.places)))
    }
}

impl ServiceStore for MemoryStore {
    fn service_state(&self) -> Option<&ServiceState> {
        Some(&self.service_state)
    }
}

#[async_trait]
impl ImageStore for MemoryStore {
    /// Unlike the default, it knows the hidden reports too.
    async fn expect_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        let known = self.card(card).await?;
        let report = self.report_of(card).filter(|_| known.report.is_some());
        let (report, _) = report.ok_or_else(|| StoreError::not_received(card))?;
        let shown = report.content.image_url.is_some();
        let expected = if shown { None } else { self.service_state.expect_image(card, until) };
        expected.ok_or_else(|| StoreError::has_image(card))
    }
}

impl KeyStore for MemoryStore {}

impl SourceStore for MemoryStore {}

#[async_trait]
impl Store for MemoryStore {
    async fn epoch(&self) -> Result<Option<u64>, StoreError> {
        Ok(Some(self.epoch))
    }

    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        Ok(match resource {
            Resource::Floods => self.floods.revision(),
            Resource::Reports => self.intake.revision(),
            Resource::Gauges => self.gauges.revision(),
            Resource::Places => self.places_revision,
        })
    }

    /// Costs O(areas + gauges × log readings).
    async fn overview(&self) -> Result<Option<Overview>, StoreError> {
        let now = self.clock.now();
        let (newest_flood_change, flooded_areas) = self.floods.overview();
        Ok(Some(Overview {
            newest_flood_change,
            newest_report: self.intake.newest(now),
            newest_reading: self.gauges.newest(now),
            flooded_areas,
        }))
    }
}

/// Opens a [`MemoryStore`] with the configured data set.
#[derive(Clone, Copy, Debug)]
pub struct OpenMemory;

#[async_trait]
impl OpenStore for OpenMemory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn keeps_data(&self) -> bool {
        false
    }

    fn check(&self, settings: &StoreSettings) -> Result<(), OpenError> {
        Ok(Dataset::find(&settings.dataset)?)
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let dataset = Dataset::load(&settings.dataset, &settings.rules, settings.clock.now())?;
        Ok(OpenedStore::new(Arc::new(MemoryStore::new(dataset, Arc::clone(&settings.clock)))))
    }
}
