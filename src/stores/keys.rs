use async_trait::async_trait;

use super::{StoreError, Versioned};
use crate::auth::ApiKey;
use crate::model::Timestamp;

/// API keys that are kept: the hash of each, what it allows, and when it was used last.
///
/// A key is known by its name, which is nobody else's for good: a key that is revoked stays listed. Which keys there are
/// and which of them are revoked is what [`Resource::Keys`](super::Resource::Keys) counts; uses are not.
#[async_trait]
pub trait KeyStore {
    /// Keeps a new key.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] when there is, or was, a key of the name, or one with the same hash.
    /// [`StoreError::Unavailable`].
    async fn create_key(&self, key: KeyEntry) -> Result<(), StoreError>;

    /// All keys, revoked ones too, by name.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn keys(&self) -> Result<Versioned<Vec<KeptKey>>, StoreError>;

    /// Revokes a key for good. Repeated, it changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] when there is no key of the name. [`StoreError::Unavailable`].
    async fn revoke_key(&self, name: &str) -> Result<(), StoreError>;

    /// Notes when keys were used, unless a later use is known. Names there are no keys of are ignored.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError>;
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
