//! Limits how much may be in progress at the same time: for each key, and in total.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Slots that are taken for keys. Clones share them. Keys without a taken slot take no memory.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimiter<K: Eq + Hash>(Arc<Inner<K>>);

#[derive(Debug)]
struct Inner<K> {
    total: u32,
    taken: Mutex<TakenSlots<K>>,
}

#[derive(Debug)]
struct TakenSlots<K> {
    all: u32,
    by_key: HashMap<K, u32>,
}

/// One taken slot, which is free again when this is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct ConcurrencyPermit<K: Eq + Hash> {
    slots: ConcurrencyLimiter<K>,
    key: K,
}

/// Why there is no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LimitReached {
    /// The key has as many as it may have. This is checked first.
    #[error("too many at once for one client")]
    OfKey,
    /// All slots are taken.
    #[error("too many at once for this server")]
    OfServer,
}

impl<K: Eq + Hash + Clone> ConcurrencyLimiter<K> {
    /// Makes `total` free slots.
    pub(crate) fn new(total: u32) -> Self {
        let taken = TakenSlots { all: 0, by_key: HashMap::new() };
        Self(Arc::new(Inner { total, taken: Mutex::new(taken) }))
    }

    /// Takes a slot for a key, which may have `most`.
    ///
    /// # Errors
    ///
    /// [`LimitReached`].
    pub(crate) fn take(&self, key: K, most: u32) -> Result<ConcurrencyPermit<K>, LimitReached> {
        let mut taken = self.taken();
        let own = taken.by_key.get(&key).copied().unwrap_or_default();
        if own >= most {
            return Err(LimitReached::OfKey);
        }
        if taken.all >= self.0.total {
            return Err(LimitReached::OfServer);
        }
        taken.all += 1;
        taken.by_key.insert(key.clone(), own + 1);
        Ok(ConcurrencyPermit { slots: self.clone(), key })
    }

    /// Returns how many slots are taken.
    pub(crate) fn count(&self) -> u32 {
        self.taken().all
    }
}

impl<K: Eq + Hash> ConcurrencyLimiter<K> {
    fn taken(&self) -> MutexGuard<'_, TakenSlots<K>> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Clone for ConcurrencyLimiter<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash> Drop for ConcurrencyPermit<K> {
    fn drop(&mut self) {
        let mut taken = self.slots.taken();
        taken.all = taken.all.saturating_sub(1);
        match taken.by_key.get_mut(&self.key) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.by_key.remove(&self.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_and_all_keys_together_have_as_many_slots_as_they_may_have() {
        let slots = ConcurrencyLimiter::new(3);
        let first = slots.take("one", 2).unwrap();
        let second = slots.take("one", 2).unwrap();
        assert_eq!(slots.take("one", 2).unwrap_err(), LimitReached::OfKey);
        let third = slots.take("other", 2).unwrap();
        assert_eq!(slots.take("other", 2).unwrap_err(), LimitReached::OfServer);
        assert_eq!(
            slots.take("one", 2).unwrap_err(),
            LimitReached::OfKey,
            "the limit of the key comes first"
        );
        drop(first);
        let fourth = slots.take("third", 2).unwrap();
        assert_eq!(slots.count(), 3);
        drop((second, third, fourth));
        assert_eq!(slots.count(), 0);
        assert!(slots.taken().by_key.is_empty(), "keys without slots take no memory");
    }
}
