use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;

use super::{ApiKey, CredentialError, CredentialErrorKind, KeyDigest};
use crate::model::Timestamp;

const USE_INTERVAL: Duration = Duration::from_mins(1);

/// The API keys of the store, in memory.
///
/// A task with access to the store refills the ring whenever the keys change, and stores the recorded uses. Of the keys in the
/// store, only those in the ring are accepted.
#[derive(Debug, Default)]
pub(crate) struct KeyRing {
    /// The names of configured keys, which override keys in the ring.
    configured: ArcSwap<HashSet<String>>,
    /// A lookup takes longer for a digest that exists, so timing could reveal digests. That is harmless: to use a digest, an
    /// attacker would need the key itself, and keys have 256 random bits.
    keys: ArcSwap<HashMap<KeyDigest, Arc<ApiKey>>>,
    /// The names of revoked keys by digest, for the log.
    revoked: ArcSwap<HashMap<KeyDigest, String>>,
    uses: Mutex<Uses>,
}

#[derive(Debug)]
pub(super) enum KeyLookup {
    /// The key is accepted unless it has expired.
    Key(Arc<ApiKey>),
    /// The key is revoked, or overridden by the configuration.
    Unusable(CredentialError),
    Nothing,
}

/// When keys were used, by name: the last use, and uses that are not yet recorded in the store.
#[derive(Debug, Default)]
struct Uses {
    last: HashMap<String, Timestamp>,
    pending: HashMap<String, Timestamp>,
}

impl KeyRing {
    pub(super) fn new(configured: &[ApiKey]) -> Self {
        let ring = Self::default();
        ring.set_configured(configured);
        ring
    }

    /// Replaces the configured keys, which override keys in the ring.
    pub(super) fn set_configured(&self, configured: &[ApiKey]) {
        self.configured.store(Arc::new(configured.iter().map(|key| key.name.clone()).collect()));
    }

    /// Replaces all keys and revoked keys, and forgets the uses of keys that no longer exist.
    pub(crate) fn fill(
        &self,
        keys: impl IntoIterator<Item = ApiKey>,
        revoked: impl IntoIterator<Item = ApiKey>,
    ) {
        let by_digest: HashMap<_, _> = keys.into_iter().map(|key| (key.sha256, Arc::new(key))).collect();
        {
            let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
            let names: HashSet<&str> = by_digest.values().map(|key| key.name.as_str()).collect();
            uses.last.retain(|name, _| names.contains(name.as_str()));
        }
        self.keys.store(Arc::new(by_digest));
        let revoked = revoked.into_iter().map(|key| (key.sha256, key.name)).collect();
        self.revoked.store(Arc::new(revoked));
    }

    /// Returns the names of keys that are not accepted because the configuration has a key with the same name.
    pub(crate) fn overridden(&self) -> Vec<String> {
        let (configured, keys) = (self.configured.load(), self.keys.load());
        let names = keys.values().map(|key| &key.name);
        names.filter(|&name| configured.contains(name)).cloned().collect()
    }

    /// Finds a key by its digest. The key is unusable if the configuration has a key with the same name.
    pub(super) fn get(&self, digest: &KeyDigest) -> KeyLookup {
        if let Some(key) = self.keys.load().get(digest) {
            return if self.configured.load().contains(&key.name) {
                KeyLookup::Unusable(CredentialError::proven(CredentialErrorKind::ReplacedKey, &key.name))
            } else {
                KeyLookup::Key(Arc::clone(key))
            };
        }
        let revoked = self.revoked.load();
        revoked.get(digest).map_or(KeyLookup::Nothing, |name| {
            KeyLookup::Unusable(CredentialError::proven(CredentialErrorKind::RevokedKey, name))
        })
    }

    /// Records a use of a key, at most once a minute.
    pub(super) fn note_use(&self, key: &ApiKey, now: Timestamp) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |last: &Timestamp| *last <= now && now < last.saturating_add(USE_INTERVAL);
        if !uses.last.get(&key.name).is_some_and(is_recent) {
            uses.last.insert(key.name.clone(), now);
            uses.pending.insert(key.name.clone(), now);
        }
    }

    pub(crate) fn take_uses(&self) -> Vec<(String, Timestamp)> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        mem::take(&mut uses.pending).into_iter().collect()
    }

    /// Puts back uses that could not be stored.
    pub(crate) fn return_uses(&self, taken: Vec<(String, Timestamp)>) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, at) in taken {
            uses.pending.entry(name).and_modify(|newer| *newer = (*newer).max(at)).or_insert(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::NewKey;

    fn key(name: &str) -> ApiKey {
        NewKey::make(name, Vec::new()).unwrap().entry
    }

    #[test]
    fn a_configured_key_overrides_a_stored_key_with_the_same_name() {
        let (configured, stored) = (key("same"), key("same"));
        let ring = KeyRing::new(&[configured]);
        ring.fill([stored.clone(), key("other")], []);
        assert_eq!(ring.overridden(), ["same"]);
        assert!(matches!(ring.get(&stored.sha256), KeyLookup::Unusable(_)));
    }

    #[test]
    fn uses_are_recorded_once_a_minute_and_taken_once() {
        let ring = KeyRing::default();
        let (key, start) = (key("one"), Timestamp::parse("2026-01-01T00:00:00Z").unwrap());
        let at = |seconds| start.saturating_add(Duration::from_secs(seconds));
        ring.fill([key.clone()], []);
        for seconds in [0, 1, 59] {
            ring.note_use(&key, at(seconds));
        }
        assert_eq!(ring.take_uses(), [("one".to_owned(), start)]);
        ring.note_use(&key, at(59));
        assert_eq!(ring.take_uses(), []);
        ring.note_use(&key, at(60));
        let taken = ring.take_uses();
        assert_eq!(taken, [("one".to_owned(), at(60))]);
        ring.note_use(&key, at(120));
        ring.return_uses(taken);
        assert_eq!(ring.take_uses(), [("one".to_owned(), at(120))], "the newer of both");
    }
}
