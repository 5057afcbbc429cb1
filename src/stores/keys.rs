use async_trait::async_trait;

use super::service_state::state;
use super::{Revision, ServiceStore, StoreError, Versioned};
use crate::auth::ApiKey;
use crate::model::Timestamp;

/// API keys that are kept: the hash of each, what it allows, and when it was used last.
///
/// A key is known by its name, which is nobody else's for good: a key that is revoked stays listed.
///
/// Each method has a default: it works on the store's [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait KeyStore: ServiceStore {
    /// Keeps a new key.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] when there is, or was, a key of the name, or one with the same hash.
    /// [`StoreError::Unavailable`].
    async fn create_key(&self, key: KeyEntry) -> Result<(), StoreError> {
        state(self)?.create_key(key)
    }

    /// All keys, revoked ones too, by name.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn keys(&self) -> Result<Versioned<Vec<KeptKey>>, StoreError> {
        Ok(state(self)?.keys())
    }

    /// The revision of the keys: it grows when a key is created or revoked, and with nothing else. Otherwise as
    /// [`Store::revision`](super::Store::revision).
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn keys_revision(&self) -> Result<Revision, StoreError> {
        Ok(state(self)?.keys_revision())
    }

    /// Revokes a key for good. Repeated, it changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] when there is no key of the name. [`StoreError::Unavailable`].
    async fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        state(self)?.revoke_key(name)
    }

    /// Notes when keys were used, unless a later use is known. Names there are no keys of are ignored.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        state(self)?.note_key_uses(uses);
        Ok(())
    }
}

/// A key to be kept.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    /// What it is accepted by, and what it allows.
    pub key: ApiKey,
    /// Who answers for it.
    pub owner: Option<String>,
}

/// A key that is kept.
#[derive(Clone, Debug)]
pub struct KeptKey {
    /// The key.
    pub entry: KeyEntry,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked; `None` while it is not.
    pub revoked_at: Option<Timestamp>,
    /// When it was used last, as far as that was noted.
    pub last_used: Option<Timestamp>,
}
