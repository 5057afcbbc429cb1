//! The store in memory. Its data is lost when the process ends.

use std::sync::Arc;

use async_trait::async_trait;

pub use super::local::LocalStore as MemoryStore;
use super::{OpenError, OpenStore, OpenedStore, StoreSettings};
use crate::data::folder::Dataset;

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

    fn is_exclusive(&self) -> bool {
        true
    }

    fn check(&self, settings: &StoreSettings) -> Result<(), OpenError> {
        Ok(Dataset::find(&settings.dataset)?)
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let dataset = Dataset::load(&settings.dataset, &settings.rules, settings.clock.now())?;
        Ok(OpenedStore::new(Arc::new(MemoryStore::new(dataset, Arc::clone(&settings.clock)))))
    }
}
