use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// The largest number of an ended login of each person, by subject.
    ended_logins: ArcSwap<HashMap<String, u64>>,
    /// The largest number of all ended logins, including those no longer kept.
    last_ended: AtomicU64,
}

#[derive(Debug)]
pub(super) enum KeyLookup {
    /// The key is accepted unless it has expired.
    Key(Arc<ApiKey>),
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

    pub(crate) fn set_ended_logins(&self, ended: impl IntoIterator<Item = (String, u64)>) {
        let mut by_subject: HashMap<String, u64> = HashMap::new();
        for (subject, number) in ended {
            let last = by_subject.entry(subject).or_default();
            *last = number.max(*last);
            self.last_ended.fetch_max(number, Ordering::Relaxed);
        }
        self.ended_logins.store(Arc::new(by_subject));
    }

    /// Returns the number that a login must keep, so that a later [end](Self::has_ended) of it has a larger one.
    pub(crate) fn last_ended(&self) -> u64 {
        self.last_ended.load(Ordering::Relaxed)
    }

    /// Whether the logins of a person that began at [`last_ended`](Self::last_ended) `number` have been ended.
    pub(crate) fn has_ended(&self, subject: &str, number: u64) -> bool {
        self.ended_logins.load().get(subject).is_some_and(|ended| *ended > number)
    }

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
    fn an_ended_login_ends_only_earlier_logins_of_its_person() {
        let ring = KeyRing::default();
        let ended = |subject: &str, number| (subject.to_owned(), number);
        ring.set_ended_logins([ended("oidc:ana", 3), ended("oidc:budi", 4)]);
        let later = ring.last_ended();
        assert!(ring.has_ended("oidc:ana", 0) && ring.has_ended("oidc:ana", 2));
        assert!(!ring.has_ended("oidc:ana", later) && !ring.has_ended("oidc:citra", 0));
        ring.set_ended_logins([ended("oidc:ana", 5)]);
        assert!(ring.has_ended("oidc:ana", later), "ended again");
        ring.set_ended_logins([]);
        assert_eq!(ring.last_ended(), 5, "numbers of removed rows are not used again");
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
