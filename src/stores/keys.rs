use async_trait::async_trait;

use super::service_state::state;
use super::{Revision, ServiceStore, StoreError, Versioned};
use crate::auth::ApiKey;
use crate::model::Timestamp;

/// Stored API keys: the hash of each, what it allows, and when it was last used.
///
/// A key is identified by its name, which is never used again: a revoked key stays listed.
///
/// Each method has a default: it works on the store's [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait KeyStore: ServiceStore {
    /// Stores a new key.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if there is, or was, a key with the same name or the same hash.
    /// [`StoreError::Unavailable`].
    async fn create_key(&self, key: KeyEntry) -> Result<(), StoreError> {
        state(self)?.with(|service, now| service.keys.create(key, now))
    }

    /// Returns all keys by name, including revoked ones.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn keys(&self) -> Result<Versioned<Vec<KeptKey>>, StoreError> {
        Ok(state(self)?.with(|service, _| service.keys.all()))
    }

    /// Returns the revision of the keys. It grows when a key is created or revoked, and with nothing else. Otherwise it
    /// is like [`Store::revision`](super::Store::revision).
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn keys_revision(&self) -> Result<Revision, StoreError> {
        Ok(state(self)?.with(|service, _| service.keys.revision()))
    }

    /// Revokes a key for good. Repeating this changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no key with the name. [`StoreError::Unavailable`].
    async fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        state(self)?.with(|service, now| service.keys.revoke(name, now))
    }

    /// Records when keys were used, unless a later use is known. Ignores names without a key.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.keys.note_uses(uses));
        Ok(())
    }
}

/// A key to be stored.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    /// Its name, its hash, and what it allows.
    pub key: ApiKey,
    /// Who is responsible for it.
    pub owner: Option<String>,
}

/// A stored key.
#[derive(Clone, Debug)]
pub struct KeptKey {
    /// The key.
    pub entry: KeyEntry,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was revoked; `None` if it was not.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, as far as that was recorded.
    pub last_used: Option<Timestamp>,
}
