use std::sync::Arc;

use async_trait::async_trait;

use super::MemoryStore;
use crate::model::{BoundaryLayer, Infrastructure, InfrastructureLayer, Region};
use crate::stores::{
    BoundaryStore, InfrastructureQuery, InfrastructureStore, Revision, StoreError, Versioned,
};

/// What does not change: infrastructure and provinces.
#[derive(Debug)]
pub(super) struct Places {
    /// By kind, then by name.
    infrastructure: Vec<Arc<Infrastructure>>,
    /// By code.
    regions: Vec<Arc<Region>>,
}

impl Places {
    /// `regions` must be in the order of their codes, as a data set's are.
    pub(super) fn new(mut infrastructure: Vec<Infrastructure>, regions: Vec<Arc<Region>>) -> Self {
        infrastructure.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        Self { infrastructure: infrastructure.into_iter().map(Arc::new).collect(), regions }
    }
}

fn unchanged<T>(value: T) -> Versioned<T> {
    Versioned { revision: Revision(0), value }
}

#[async_trait]
impl InfrastructureStore for MemoryStore {
    async fn infrastructure(
        &self,
        query: &InfrastructureQuery,
    ) -> Result<Versioned<InfrastructureLayer>, StoreError> {
        let asked = self.places.infrastructure.iter().filter(|of| {
            query.kind.is_none_or(|kind| kind == of.kind) && self.selects(&query.selector, &of.tags)
        });
        Ok(unchanged(InfrastructureLayer(asked.cloned().collect())))
    }
}

#[async_trait]
impl BoundaryStore for MemoryStore {
    async fn boundaries(&self, code: Option<&str>) -> Result<Versioned<BoundaryLayer>, StoreError> {
        let asked = self.places.regions.iter().filter(|region| code.is_none_or(|code| code == region.code));
        Ok(unchanged(BoundaryLayer(asked.cloned().collect())))
    }
}
