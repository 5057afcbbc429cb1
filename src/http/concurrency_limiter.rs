//! Limits how many operations are in progress at the same time: for each key, and in total.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts the permits of each key. Clones share the counts; keys without permits take no memory.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimiter<K: Eq + Hash>(Arc<Inner<K>>);

#[derive(Debug)]
struct Inner<K> {
    total: u32,
    counts: Mutex<TakenSlots<K>>,
}

#[derive(Debug)]
struct TakenSlots<K> {
    all: u32,
    by_key: HashMap<K, u32>,
}

/// A permit, which is released when it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct ConcurrencyPermit<K: Eq + Hash> {
    limiter: ConcurrencyLimiter<K>,
    key: K,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LimitReached {
    /// The key has reached its limit, which is checked before the total.
    #[error("too many at once for one client")]
    PerKey,
    #[error("too many at once for this server")]
    Total,
}

impl<K: Eq + Hash + Clone> ConcurrencyLimiter<K> {
    pub(crate) fn new(total: u32) -> Self {
        let counts = TakenSlots { all: 0, by_key: HashMap::new() };
        Self(Arc::new(Inner { total, counts: Mutex::new(counts) }))
    }

    /// Takes a permit for a key. Fails if the key holds `limit` permits already, or if the total is reached.
    pub(crate) fn try_acquire(&self, key: K, limit: u32) -> Result<ConcurrencyPermit<K>, LimitReached> {
        let mut counts = self.counts();
        let in_use = counts.by_key.get(&key).copied().unwrap_or_default();
        if in_use >= limit {
            return Err(LimitReached::PerKey);
        }
        if counts.all >= self.0.total {
            return Err(LimitReached::Total);
        }
        counts.all += 1;
        counts.by_key.insert(key.clone(), in_use + 1);
        Ok(ConcurrencyPermit { limiter: self.clone(), key })
    }

    pub(crate) fn in_use(&self) -> u32 {
        self.counts().all
    }
}

impl<K: Eq + Hash> ConcurrencyLimiter<K> {
    fn counts(&self) -> MutexGuard<'_, TakenSlots<K>> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Clone for ConcurrencyLimiter<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash> Drop for ConcurrencyPermit<K> {
    fn drop(&mut self) {
        let mut counts = self.limiter.counts();
        counts.all = counts.all.saturating_sub(1);
        match counts.by_key.get_mut(&self.key) {
            Some(in_use) if *in_use > 1 => *in_use -= 1,
            _ => drop(counts.by_key.remove(&self.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_limited_per_key_and_in_total() {
        let slots = ConcurrencyLimiter::new(3);
        let first = slots.try_acquire("one", 2).unwrap();
        let second = slots.try_acquire("one", 2).unwrap();
        assert_eq!(slots.try_acquire("one", 2).unwrap_err(), LimitReached::PerKey);
        let third = slots.try_acquire("other", 2).unwrap();
        assert_eq!(slots.try_acquire("other", 2).unwrap_err(), LimitReached::Total);
        assert_eq!(
            slots.try_acquire("one", 2).unwrap_err(),
            LimitReached::PerKey,
            "the limit of the key comes first"
        );
        drop(first);
        let fourth = slots.try_acquire("third", 2).unwrap();
        assert_eq!(slots.in_use(), 3);
        drop((second, third, fourth));
        assert_eq!(slots.in_use(), 0);
        assert!(slots.counts().by_key.is_empty(), "keys without slots take no memory");
    }
}
