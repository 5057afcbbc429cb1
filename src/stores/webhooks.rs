use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::service_state::state;
use super::{ServiceStore, StoreError};

/// Stores the progress of the webhooks, and the lease of the one server that sends events.
///
/// The store does not interpret the stored texts. By default, the first two methods use the store's
/// [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait WebhookStore: ServiceStore {
    /// Returns all states by name. If webhooks are configured, each server without the lease calls this every 5 s.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn webhook_states(&self) -> Result<BTreeMap<String, WebhookState>, StoreError> {
        Ok(state(self)?.with(|service, _| service.webhooks.clone()).into_iter().collect())
    }

    /// Replaces the state `name` and increments its version, if the stored version is `version` (0: there is no such state).
    /// Returns whether the state was replaced. Of concurrent writes with the same version, exactly one succeeds.
    ///
    /// `name` has at most 64 characters, `text` at most 4 MiB.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn put_webhook_state(&self, name: &str, version: u64, text: &str) -> Result<bool, StoreError> {
        Ok(state(self)?.with(|service, _| service.put_webhook(name, version, text).is_some()))
    }

    /// Returns identifiers of the open transactions that may still write a report. Once they have ended, no report can appear
    /// whose key is lower than a key that was visible before this call. **Default: none**, for stores in which reports become
    /// visible in the order of their keys
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
    /// The number of writes so far; 1 after the first.
    pub version: u64,
    /// JSON that only the service interprets.
    pub text: String,
}
