use async_trait::async_trait;

use super::service_state::state;
use super::{Revision, ServiceStore, StoreError, Versioned};
use crate::auth::ApiKey;
use crate::model::Timestamp;

/// Stores API keys. A key is identified by its name, which is never reused, because revoked keys stay in the list. By default,
/// each method uses the store's [`ServiceState`](super::ServiceState).
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

    /// Returns the revision of the keys, which grows only when a key is created or revoked. It has the guarantees of
    /// [`Store::revision`](super::Store::revision).
    async fn keys_revision(&self) -> Result<Revision, StoreError> {
        Ok(state(self)?.with(|service, _| service.keys.revision()))
    }

    /// Revokes a key permanently. Revoking it again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no key with the name.
    async fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        state(self)?.with(|service, now| service.keys.revoke(name, now))
    }

    /// Records when keys were last used. Keeps a stored time if it is later. Ignores names without a key.
    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.keys.note_uses(uses));
        Ok(())
    }
}

/// A new key.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    /// The name, the hash and the scopes of the key.
    pub key: ApiKey,
    /// The person responsible for the key.
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
    /// When it was last used; `None` if no use is recorded.
    pub last_used: Option<Timestamp>,
}
