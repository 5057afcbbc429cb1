use imbl::OrdMap;

use super::{ServiceState, lock};
use crate::model::Timestamp;
use crate::stores::{KeptKey, KeyEntry, Revision, StoreError, Versioned};

/// Keys by their name.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    by_name: OrdMap<String, KeptKey>,
    /// How often keys were created or revoked.
    changes: u64,
}

impl Keys {
    pub(super) fn of(keys: Vec<KeptKey>, revision: Revision) -> Self {
        let by_name = keys.into_iter().map(|kept| (kept.entry.key.name.clone(), kept));
        Self { by_name: by_name.collect(), changes: revision.0 }
    }
}

impl ServiceState {
    pub(in crate::stores) fn create_key(&self, entry: KeyEntry) -> Result<(), StoreError> {
        let created_at = self.clock.now();
        let mut keys = lock(&self.keys);
        let new = &entry.key;
        let is_same = |kept: &KeptKey| kept.entry.key.name == new.name || kept.entry.key.sha256 == new.sha256;
        if keys.by_name.values().any(is_same) {
            return Err(StoreError::key_exists(&new.name));
        }
        let name = new.name.clone();
        keys.by_name.insert(name, KeptKey { entry, created_at, revoked_at: None, last_used: None });
        keys.changes += 1;
        Ok(())
    }

    pub(in crate::stores) fn keys(&self) -> Versioned<Vec<KeptKey>> {
        let keys = lock(&self.keys);
        Versioned::at(Revision(keys.changes), keys.by_name.values().cloned().collect())
    }

    pub(in crate::stores) fn key(&self, name: &str) -> Option<KeptKey> {
        lock(&self.keys).by_name.get(name).cloned()
    }

    pub(in crate::stores) fn keys_revision(&self) -> Revision {
        Revision(lock(&self.keys).changes)
    }

    pub(in crate::stores) fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        let now = self.clock.now();
        let mut keys = lock(&self.keys);
        let kept = keys.by_name.get_mut(name).ok_or_else(|| StoreError::no_key(name))?;
        if kept.revoked_at.is_none() {
            kept.revoked_at = Some(now);
            keys.changes += 1;
        }
        Ok(())
    }

    pub(in crate::stores) fn note_key_uses(&self, uses: &[(String, Timestamp)]) {
        let mut keys = lock(&self.keys);
        for (name, at) in uses {
            if let Some(kept) = keys.by_name.get_mut(name) {
                kept.last_used = kept.last_used.max(Some(*at));
            }
        }
    }
}
