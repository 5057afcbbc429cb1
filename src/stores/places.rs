use std::sync::Arc;

use async_trait::async_trait;

use super::{StoreError, Versioned};
use crate::model::Places;

/// Everything on the map except flood states: areas, provinces, cities, infrastructure.
#[async_trait]
pub trait PlaceStore {
    /// Returns all places, with the revision of [`Resource::Places`](super::Resource::Places).
    ///
    /// Called for each uncached response about places, so a store that reads them from elsewhere must cache them.
    async fn places(&self) -> Result<Versioned<Arc<Places>>, StoreError>;
}
