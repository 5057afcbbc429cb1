use async_trait::async_trait;

use super::{StoreError, Versioned};
use crate::model::{AreaSelector, InfrastructureKind, InfrastructureLayer};

/// Which infrastructure is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct InfrastructureQuery {
    /// Of a city or province only.
    pub selector: AreaSelector,
    /// Of one kind only.
    pub kind: Option<InfrastructureKind>,
}

/// Floodgates, pumps and waterways.
#[async_trait]
pub trait InfrastructureStore {
    /// The infrastructure asked for, by kind, then by name.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn infrastructure(
        &self,
        query: &InfrastructureQuery,
    ) -> Result<Versioned<InfrastructureLayer>, StoreError>;
}
