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
use std::sync::Arc;

use async_trait::async_trait;

use self::floods::Floods;
use self::gauges::Gauges;
use self::intake::Intake;
use super::{
    ImageStore, KeyStore, OpenError, OpenStore, OpenedStore, Overview, PlaceStore, Resource, Revision,
    ServiceState, ServiceStore, Store, StoreError, StoreSettings, Versioned,
};
use crate::datasets::Dataset;
use crate::model::{Clock, Places};
use crate::tasks::{Stop, Stopped, off_thread};

/// Places never change while the store is open.
const UNCHANGED: Revision = Revision(0);

/// A [`Store`] in memory, filled from a [`Dataset`].
#[derive(Debug)]
pub struct MemoryStore {
    places: Arc<Places>,
    floods: Floods,
    intake: Intake,
    gauges: Gauges,
    service_state: ServiceState,
    clock: Arc<dyn Clock>,
}

impl MemoryStore {
    /// Creates a store that holds `dataset` and takes the time from `clock`.
    #[must_use]
    pub fn new(dataset: Dataset, clock: Arc<dyn Clock>) -> Self {
        Self {
            floods: Floods::new(Arc::clone(dataset.places.areas()), dataset.flood_log),
            intake: Intake::new(dataset.reports, dataset.cards, dataset.partner_posts),
            gauges: Gauges::new(dataset.gauges),
            service_state: ServiceState::new(Arc::clone(&clock)),
            places: Arc::new(dataset.places),
            clock,
        }
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
        Ok(Versioned::at(UNCHANGED, Arc::clone(&self.places)))
    }
}

impl ServiceStore for MemoryStore {
    fn service_state(&self) -> Option<&ServiceState> {
        Some(&self.service_state)
    }
}

impl ImageStore for MemoryStore {}

impl KeyStore for MemoryStore {}

#[async_trait]
impl Store for MemoryStore {
    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        Ok(match resource {
            Resource::Floods => self.floods.revision(),
            Resource::Reports => self.intake.revision(),
            Resource::Gauges => self.gauges.revision(),
            Resource::Places => UNCHANGED,
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
