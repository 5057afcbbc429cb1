use std::collections::BTreeMap;

use async_trait::async_trait;

use super::service_state::state;
use super::{ServiceStore, StoreError};
use crate::model::Timestamp;

/// When the sources of the data last reported.
///
/// The store accepts any name; the configuration defines the sources. Each method has a default: it works on the store's
/// [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait SourceStore: ServiceStore {
    /// Records that a source reported, unless a later report is stored. Names have at most 64 characters.
    async fn heard(&self, source: &str, at: Timestamp) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.record_heard(source, at));
        Ok(())
    }

    /// Returns when each source last reported to any server, by name. If sources are configured, called several times a second.
    async fn last_heard(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        Ok(state(self)?.with(|service, _| service.last_heard.clone()).into_iter().collect())
    }
}
