use std::time::Duration;

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

    /// Returns the revision of the keys, which grows only when a key is created or revoked, or logins are ended. It has the guarantees of
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

    /// Ends all logins of a person that began before this call.
    async fn end_logins(&self, subject: &str) -> Result<(), StoreError> {
        state(self)?.with(|service, now| drop(service.keys.end_logins(subject, now)));
        Ok(())
    }

    /// Returns the ended logins of the last [`ENDED_LOGIN_KEPT`], ascending by number. Belongs to
    /// [`keys_revision`](Self::keys_revision), which also grows when logins are ended.
    async fn ended_logins(&self) -> Result<Vec<EndedLogin>, StoreError> {
        Ok(state(self)?.with(|service, now| service.keys.ended_logins(now)))
    }

    /// Records when keys were last used. Keeps a stored time if it is later. Ignores names without a key.
    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        state(self)?.with(|service, _| service.keys.note_uses(uses));
        Ok(())
    }
}

/// How long an ended login is kept. No login lasts longer.
pub const ENDED_LOGIN_KEPT: Duration = Duration::from_hours(24);

/// The end of all logins of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedLogin {
    /// Larger than the numbers of all earlier ones in this store. It ends the logins that began when all numbers were smaller.
    pub number: u64,
    /// The person.
    pub subject: String,
    /// When the logins were ended.
    pub at: Timestamp,
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
