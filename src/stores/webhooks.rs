use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::service_state::state;
use super::{ServiceStore, StoreError};

/// What the service remembers of its outgoing calls: how far each has come, and which server sends.
///
/// The store does not read the texts. The first three methods have defaults that work on the store's
/// [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait WebhookStore: ServiceStore {
    /// Returns everything that is kept, by name. The server that sends reads it when it begins, the others every 5 s, if calls
    /// are configured.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn webhook_states(&self) -> Result<BTreeMap<String, WebhookState>, StoreError> {
        Ok(state(self)?.with(|service, _| service.calls.clone()).into_iter().collect())
    }

    /// Replaces what is kept under a name, if its version is still `version`, which is 0 if nothing is kept. Returns whether it
    /// was; then the version is one higher. Of concurrent calls with one version, exactly one succeeds. The name has at most 64
    /// characters, the text at most 4 MiB.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn put_webhook_state(&self, name: &str, version: u64, text: &str) -> Result<bool, StoreError> {
        Ok(state(self)?.with(|service, _| service.keep_call(name, version, text).is_some()))
    }

    /// Identifies the transactions that are open now and may still write a report. Once those have ended, no report can appear
    /// whose key is lower than one that was visible before this call. **Default: none**, for stores in which reports become
    /// visible in the order of their keys
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn open_writes(&self) -> Result<BTreeSet<String>, StoreError> {
        Ok(BTreeSet::new())
    }
}

/// What is kept under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookState {
    /// How often it was replaced, from 1.
    pub version: u64,
    /// The text.
    pub text: String,
}
