use async_trait::async_trait;
use imbl::OrdMap;

use super::MemoryStore;
use super::snapshot::{Snapshots, Written};
use crate::model::Timestamp;
use crate::stores::{KeptKey, KeyEntry, KeyStore, Revision, StoreError, Versioned};

/// Keys by their name.
#[derive(Debug)]
pub(super) struct Keys {
    snapshots: Snapshots<OrdMap<String, KeptKey>>,
}

impl Keys {
    pub(super) fn new() -> Self {
        Self { snapshots: Snapshots::new(OrdMap::new()) }
    }

    pub(super) fn revision(&self) -> Revision {
        self.snapshots.revision()
    }
}

#[async_trait]
impl KeyStore for MemoryStore {
    async fn create_key(&self, entry: KeyEntry) -> Result<(), StoreError> {
        let created_at = self.clock.now();
        self.keys.snapshots.write(|keys| {
            let new = &entry.key;
            if keys
                .values()
                .any(|kept| kept.entry.key.name == new.name || kept.entry.key.sha256 == new.sha256)
            {
                return Err(StoreError::key_exists(&new.name));
            }
            let name = new.name.clone();
            keys.insert(name, KeptKey { entry, created_at, revoked_at: None, last_used: None });
            Ok(Written::Visible(()))
        })
    }

    async fn keys(&self) -> Result<Versioned<Vec<KeptKey>>, StoreError> {
        let snapshot = self.keys.snapshots.read();
        Ok(snapshot.of(snapshot.value.values().cloned().collect()))
    }

    async fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        let now = self.clock.now();
        self.keys.snapshots.write(|keys| {
            let kept = keys.get_mut(name).ok_or_else(|| StoreError::no_key(name))?;
            if kept.revoked_at.is_some() {
                return Ok(Written::Unseen(()));
            }
            kept.revoked_at = Some(now);
            Ok(Written::Visible(()))
        })
    }

    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        self.keys.snapshots.write(|keys| {
            for (name, at) in uses {
                if let Some(kept) = keys.get_mut(name) {
                    kept.last_used = kept.last_used.max(Some(*at));
                }
            }
            Ok(Written::Unseen(()))
        })
    }
}
