use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;

use super::{ApiKey, CredentialError, CredentialErrorKind, KeyDigest};
use crate::model::Timestamp;

/// The minimum time between two noted uses of a key.
const BETWEEN_USES: Duration = Duration::from_mins(1);

/// The API keys of the store, in memory.
///
/// A module that knows the store fills the ring whenever the keys there change, and takes the noted uses from it. Between two
/// fillings, the ring stays as it is; keys that it does not contain are not accepted.
#[derive(Debug, Default)]
pub(crate) struct KeyRing {
    /// The names of the keys in the configuration, which override keys in the ring.
    configured: ArcSwap<HashSet<String>>,
    /// The keys by digest. A lookup takes longer for a digest that exists, so an attacker who measures the time could find
    /// digests. But that does not help: to send a chosen digest, the attacker would have to find a text with it, and keys have
    /// 256 random bits.
    keys: ArcSwap<HashMap<KeyDigest, Arc<ApiKey>>>,
    /// The names of revoked keys, by digest. They are needed only for the log.
    revoked: ArcSwap<HashMap<KeyDigest, String>>,
    uses: Mutex<Uses>,
}

/// The result of looking up a digest.
#[derive(Debug)]
pub(super) enum KeyLookup {
    /// A key that is accepted unless it has expired.
    Key(Arc<ApiKey>),
    /// A key that is not accepted: it is revoked, or the configuration overrides it.
    Unusable(CredentialError),
    /// No key has the digest.
    Nothing,
}

/// The times at which keys were used.
#[derive(Debug, Default)]
struct Uses {
    /// The last noted use of each key.
    noted: HashMap<String, Timestamp>,
    /// The uses that have not been taken yet.
    new: HashMap<String, Timestamp>,
}

impl KeyRing {
    /// Makes an empty ring, to be used with these keys of the configuration.
    pub(super) fn beside(configured: &[ApiKey]) -> Self {
        let ring = Self::default();
        ring.stand_beside(configured);
        ring
    }

    /// Lets these keys of the configuration override keys in the ring from now on.
    pub(super) fn stand_beside(&self, configured: &[ApiKey]) {
        self.configured.store(Arc::new(configured.iter().map(|key| key.name.clone()).collect()));
    }

    /// Replaces the keys in the ring, and remembers which keys were revoked.
    pub(crate) fn fill(
        &self,
        keys: impl IntoIterator<Item = ApiKey>,
        revoked: impl IntoIterator<Item = ApiKey>,
    ) {
        let held: HashMap<_, _> = keys.into_iter().map(|key| (key.sha256, Arc::new(key))).collect();
        {
            let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
            let names: HashSet<&str> = held.values().map(|key| key.name.as_str()).collect();
            uses.noted.retain(|name, _| names.contains(name.as_str()));
        }
        self.keys.store(Arc::new(held));
        let revoked = revoked.into_iter().map(|key| (key.sha256, key.name)).collect();
        self.revoked.store(Arc::new(revoked));
    }

    /// Returns the names of the keys in the ring that are not accepted because the configuration has a key with the same name.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let (configured, held) = (self.configured.load(), self.keys.load());
        let names = held.values().map(|key| &key.name);
        names.filter(|&name| configured.contains(name)).cloned().collect()
    }

    /// Looks up the key with a digest.
    pub(super) fn get(&self, digest: &KeyDigest) -> KeyLookup {
        if let Some(key) = self.keys.load().get(digest) {
            return if self.configured.load().contains(&key.name) {
                KeyLookup::Unusable(CredentialError::known(CredentialErrorKind::ReplacedKey, &key.name))
            } else {
                KeyLookup::Key(Arc::clone(key))
            };
        }
        let revoked = self.revoked.load();
        revoked.get(digest).map_or(KeyLookup::Nothing, |name| {
            KeyLookup::Unusable(CredentialError::known(CredentialErrorKind::RevokedKey, name))
        })
    }

    /// Notes that a key was used, at most once a minute.
    pub(super) fn note_use(&self, key: &ApiKey, now: Timestamp) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = |last: &Timestamp| *last <= now && now < last.after(BETWEEN_USES);
        if !uses.noted.get(&key.name).is_some_and(lately) {
            uses.noted.insert(key.name.clone(), now);
            uses.new.insert(key.name.clone(), now);
        }
    }

    /// Takes the uses that have not been taken yet: the name of each key, and the time.
    pub(crate) fn take_uses(&self) -> Vec<(String, Timestamp)> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        mem::take(&mut uses.new).into_iter().collect()
    }

    /// Returns uses that were taken but could not be stored.
    pub(crate) fn return_uses(&self, taken: Vec<(String, Timestamp)>) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, at) in taken {
            uses.new.entry(name).and_modify(|newer| *newer = (*newer).max(at)).or_insert(at);
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
    fn of_a_name_the_configuration_has_the_stored_key_is_left_out() {
        let (configured, stored) = (key("same"), key("same"));
        let ring = KeyRing::beside(&[configured]);
        ring.fill([stored.clone(), key("other")], []);
        assert_eq!(ring.left_out(), ["same"]);
        assert!(matches!(ring.get(&stored.sha256), KeyLookup::Unusable(_)));
    }

    #[test]
    fn a_use_is_noted_once_a_minute_and_taken_once() {
        let ring = KeyRing::default();
        let (key, start) = (key("one"), Timestamp::parse("2026-01-01T00:00:00Z").unwrap());
        let at = |seconds| start.after(Duration::from_secs(seconds));
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
