use async_trait::async_trait;

use super::MemoryStore;
use crate::model::{BoundaryLayer, InfrastructureLayer};
use crate::stores::{
    BoundaryStore, InfrastructureQuery, InfrastructureStore, Revision, StoreError, Versioned,
};

/// Places never change while the store is open.
pub(super) const UNCHANGED: Revision = Revision(0);

#[async_trait]
impl InfrastructureStore for MemoryStore {
    async fn infrastructure(
        &self,
        query: &InfrastructureQuery,
    ) -> Result<Versioned<InfrastructureLayer>, StoreError> {
        Ok(Versioned::at(UNCHANGED, self.places.infrastructure(query)))
    }
}

#[async_trait]
impl BoundaryStore for MemoryStore {
    async fn boundaries(&self, code: Option<&str>) -> Result<Versioned<BoundaryLayer>, StoreError> {
        Ok(Versioned::at(UNCHANGED, self.places.boundaries(code)))
    }
}
