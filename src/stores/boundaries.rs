use async_trait::async_trait;

use super::{StoreError, Versioned};
use crate::model::BoundaryLayer;

/// Boundaries of provinces.
#[async_trait]
pub trait BoundaryStore {
    /// All provinces by their code, or the one of a code; none when there is no such province.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn boundaries(&self, code: Option<&str>) -> Result<Versioned<BoundaryLayer>, StoreError>;
}
