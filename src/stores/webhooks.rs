use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::service_state::state;
use super::{ServiceStore, StoreError};

/// Progress of the webhooks, and the lease of the server that sends.
///
/// The store does not interpret the texts. The first three methods have defaults that use the store's
/// [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait WebhookStore: ServiceStore {
    /// Returns all states by name. If webhooks are configured, the server that sends reads them once, the others every 5 s.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn webhook_states(&self) -> Result<BTreeMap<String, WebhookState>, StoreError> {
        Ok(state(self)?.with(|service, _| service.webhooks.clone()).into_iter().collect())
    }

    /// Replaces the state `name` if its version is still `version` (0: it does not exist), and increments the version. Returns
    /// whether it was replaced. If writes with one version are concurrent, exactly one succeeds.
    ///
    /// `name` has at most 64 characters, `text` at most 4 MiB.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn put_webhook_state(&self, name: &str, version: u64, text: &str) -> Result<bool, StoreError> {
        Ok(state(self)?.with(|service, _| service.put_webhook(name, version, text).is_some()))
    }

    /// Returns identifiers of the open transactions that may still write a report. Once these have ended, no report can appear
    /// with a lower key than one that was visible before. **Default: none**, for stores in which reports become visible in the
    /// order of their keys
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn open_writes(&self) -> Result<BTreeSet<String>, StoreError> {
        Ok(BTreeSet::new())
    }
}

/// A stored state: the checkpoint of a webhook, or the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookState {
    /// Number of writes, from 1.
    pub version: u64,
    /// JSON that only the service interprets.
    pub text: String,
}
