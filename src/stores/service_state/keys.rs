use imbl::{OrdMap, Vector};

use crate::model::Timestamp;
use crate::stores::{ENDED_LOGIN_KEPT, EndedLogin, KeyEntry, Revision, StoreError, StoredKey, Versioned};

#[derive(Clone, Debug, Default)]
pub(in crate::stores) struct Keys {
    by_name: OrdMap<String, StoredKey>,
    /// The ended logins of the last [`ENDED_LOGIN_KEPT`], ascending by number.
    ended_logins: Vector<EndedLogin>,
    /// The number of creations, revocations and ended logins.
    changes: u64,
}

impl Keys {
    pub(in crate::stores) fn new(
        keys: Vec<StoredKey>,
        ended_logins: Vec<EndedLogin>,
        revision: Revision,
    ) -> Self {
        let by_name = keys.into_iter().map(|kept| (kept.entry.key.name.clone(), kept));
        Self { by_name: by_name.collect(), ended_logins: ended_logins.into(), changes: revision.0 }
    }

    /// Adds a key. Fails if a key, even a revoked one, has the same name or digest.
    pub(in crate::stores) fn create(&mut self, entry: KeyEntry, now: Timestamp) -> Result<(), StoreError> {
        let new = &entry.key;
        let is_same =
            |kept: &StoredKey| kept.entry.key.name == new.name || kept.entry.key.sha256 == new.sha256;
        if self.by_name.values().any(is_same) {
            return Err(StoreError::key_exists(&new.name));
        }
        let name = new.name.clone();
        self.by_name.insert(name, StoredKey { entry, created_at: now, revoked_at: None, last_used: None });
        self.changes += 1;
        Ok(())
    }

    pub(in crate::stores) fn all(&self) -> Versioned<Vec<StoredKey>> {
        Versioned::new(self.revision(), self.by_name.values().cloned().collect())
    }

    pub(in crate::stores) fn find(&self, name: &str) -> Option<&StoredKey> {
        self.by_name.get(name)
    }

    pub(in crate::stores) fn revision(&self) -> Revision {
        Revision(self.changes)
    }

    /// Revokes a key. If it was revoked before, its revocation time stays.
    pub(in crate::stores) fn revoke(&mut self, name: &str, now: Timestamp) -> Result<(), StoreError> {
        let kept = self.by_name.get_mut(name).ok_or_else(|| StoreError::no_key(name))?;
        if kept.revoked_at.is_none() {
            kept.revoked_at = Some(now);
            self.changes += 1;
        }
        Ok(())
    }

    /// Ends the logins of a person; returns the new entry. Its number is the revision of the keys after the change.
    pub(in crate::stores) fn end_logins(&mut self, subject: &str, now: Timestamp) -> EndedLogin {
        self.changes += 1;
        let ended = EndedLogin { number: self.changes, subject: subject.to_owned(), at: now };
        self.ended_logins.retain(|ended| is_kept(ended, now));
        self.ended_logins.push_back(ended.clone());
        ended
    }

    pub(in crate::stores) fn ended_logins(&self, now: Timestamp) -> Vec<EndedLogin> {
        self.ended_logins.iter().filter(|ended| is_kept(ended, now)).cloned().collect()
    }

    /// Records when keys were last used, unless a later time is stored. Ignores unknown names.
    pub(in crate::stores) fn note_uses(&mut self, uses: &[(String, Timestamp)]) {
        for (name, at) in uses {
            if let Some(kept) = self.by_name.get_mut(name) {
                kept.last_used = kept.last_used.max(Some(*at));
            }
        }
    }
}

fn is_kept(ended: &EndedLogin, now: Timestamp) -> bool {
    ended.at >= now.saturating_sub(ENDED_LOGIN_KEPT)
}
