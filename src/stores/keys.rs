use async_trait::async_trait;

use super::service_state::state;
use super::{Revision, ServiceStore, StoreError, Versioned};
use crate::auth::ApiKey;
use crate::model::Timestamp;

/// Stored API keys. A key is identified by its name, which is never reused: a revoked key stays listed. Each method has a
/// default: it works on the store's [`ServiceState`](super::ServiceState).
#[async_trait]
pub trait KeyStore: ServiceStore {
    /// Stores a new key.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if there is, or was, a key with the same name or hash.
    async fn create_key(&self, key: KeyEntry) -> Result<(), StoreError> {
        state(self)?.with(|service, now| service.keys.create(key, now))
    }

    /// Returns all keys by name, including revoked ones.
    async fn keys(&self) -> Result<Versioned<Vec<StoredKey>>, StoreError> {
        Ok(state(self)?.with(|service, _| service.keys.all()))
    }

    /// Returns the revision of the keys, which grows only when a key is created or revoked. Otherwise like
    /// [`Store::revision`](super::Store::revision).
    async fn keys_revision(&self) -> Result<Revision, StoreError> {
        Ok(state(self)?.with(|service, _| service.keys.revision()))
    }

    /// Revokes a key for good. Repeating this changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no key with the name.
    async fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        state(self)?.with(|service, now| service.keys.revoke(name, now))
    }

    /// Records when keys were used, unless a later use is known. Ignores names without a key.
    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.keys.note_uses(uses));
        Ok(())
    }
}

/// A new key.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    /// Its name, its hash, and its scopes.
    pub key: ApiKey,
    /// The person responsible for it.
    pub owner: Option<String>,
}

/// A stored key.
#[derive(Clone, Debug)]
pub struct StoredKey {
    /// The key.
    pub entry: KeyEntry,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was revoked, if ever.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, as far as recorded.
    pub last_used: Option<Timestamp>,
}
