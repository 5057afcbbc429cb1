use std::collections::BTreeMap;

use async_trait::async_trait;

use super::service_state::state;
use super::{ServiceStore, StoreError};
use crate::model::Timestamp;

/// Stores when each source of data last reported.
///
/// The store accepts any source name, because the configuration defines the sources. By default, each method uses the store's
/// [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait SourceStore: ServiceStore {
    /// Records that a source reported at `at`, unless a later time is stored. A source name has at most 64 characters.
    async fn heard(&self, source: &str, at: Timestamp) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.record_heard(source, at));
        Ok(())
    }

    /// Returns when each source last reported to any server. If sources are configured, servers call this several times a second.
    async fn last_heard(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        Ok(state(self)?.with(|service, _| service.last_heard.clone()).into_iter().collect())
    }
}
