use std::sync::Arc;

use async_trait::async_trait;

use super::{StoreError, Versioned};
use crate::model::Places;

/// What is on the map, whether it is flooded or not.
#[async_trait]
pub trait PlaceStore {
    /// Returns all places. Their revision is that of [`Resource::Places`](super::Resource::Places).
    ///
    /// Called for each response about places that is not cached: a store that reads them from elsewhere caches them.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn places(&self) -> Result<Versioned<Arc<Places>>, StoreError>;
}
