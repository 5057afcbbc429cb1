//! The store in memory: everything in one process, nothing kept after it ends.
//!
//! Each resource is one immutable snapshot behind an atomic pointer. A reader takes the pointer and
//! reads on undisturbed; a writer, one at a time, makes the next snapshot from the present one and swaps the
//! pointer. Snapshots share their unchanged parts (persistent vectors), so a write costs O(log n).

mod floods;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use self::floods::Floods;
use super::{OpenStore, Resource, Revision, Store, StoreError, StoreSettings};
use crate::datasets::{Dataset, DatasetError};
use crate::model::Clock;

/// A [`Store`] in memory, filled from a [`Dataset`].
#[derive(Debug)]
pub struct MemoryStore {
    floods: Floods,
    clock: Arc<dyn Clock>,
}

impl MemoryStore {
    /// A store that holds `dataset` and takes the time of changes from `clock`.
    #[must_use]
    pub fn new(dataset: Dataset, clock: Arc<dyn Clock>) -> Self {
        Self { floods: Floods::new(dataset.areas, dataset.flood_log), clock }
    }
}

impl fmt::Display for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory ({} areas)", self.floods.areas().len())
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        match resource {
            Resource::Floods => Ok(self.floods.revision()),
        }
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

    async fn open(
        &self,
        settings: &StoreSettings,
    ) -> Result<Arc<dyn Store>, Box<dyn std::error::Error + Send + Sync>> {
        let dataset =
            Dataset::load(&settings.dataset, settings.clock.now()).map_err(Box::<DatasetError>::new)?;
        Ok(Arc::new(MemoryStore::new(dataset, Arc::clone(&settings.clock))))
    }
}
