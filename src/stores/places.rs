use std::sync::Arc;

use async_trait::async_trait;

use super::{StoreError, Versioned};
use crate::model::Places;

/// Places on the map: areas, provinces, cities and infrastructure.
#[async_trait]
pub trait PlaceStore {
    /// Returns all places, with the revision of [`Resource::Places`](super::Resource::Places).
    ///
    /// The server calls this method for each uncached response about places, so a store must keep the places in memory.
    async fn places(&self) -> Result<Versioned<Arc<Places>>, StoreError>;
}
