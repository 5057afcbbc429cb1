use std::collections::BTreeMap;

use async_trait::async_trait;

use super::service_state::state;
use super::{ServiceStore, StoreError};
use crate::model::Timestamp;

/// When the sources of the data were last heard.
///
/// The store keeps whatever names it is given; the configuration decides which sources there are. Each method has a
/// default: it works on the store's [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait SourceStore: ServiceStore {
    /// Records that a source was heard, unless it is known to have been heard later. The name has at most 64
    /// characters.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn heard(&self, source: &str, at: Timestamp) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.heard(source, at));
        Ok(())
    }

    /// Returns when each source was last heard, by name, as recorded by all instances of the service. Each server calls
    /// it several times a second if sources are configured.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn last_heard(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        Ok(state(self)?.with(|service, _| service.last_heard.clone()).into_iter().collect())
    }
}
