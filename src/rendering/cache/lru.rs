use std::hash::Hash;

use lru::LruCache;

/// A map with a limit in bytes. Evicts the least recently used values first.
#[derive(Debug)]
pub(super) struct LruByBytes<K: Hash + Eq, V> {
    values: LruCache<K, SizedValue<V>>,
    size: usize,
    limit: usize,
}

pub(super) trait CacheValue: Default {
    /// Returns the size of the value in bytes; `None` removes it from the map.
    fn bytes(&self) -> Option<usize>;

    /// Frees the bytes of the value. Returns whether the entry must stay in the map.
    fn evict(&mut self) -> bool;
}

#[derive(Debug)]
struct SizedValue<V> {
    value: V,
    size: usize,
}

/// The approximate size of an entry in bytes, without its value.
pub(super) const OVERHEAD: usize = 512;

impl<K: Clone + Hash + Eq, V: CacheValue> LruByBytes<K, V> {
    pub(super) fn new(limit: usize) -> Self {
        Self { values: LruCache::unbounded(), size: 0, limit }
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.evict_to_limit();
    }

    /// Returns the value of a key and marks it as used. To change its size, use `update`.
    pub(super) fn get(&mut self, key: &K) -> Option<&mut V> {
        self.values.get_mut(key).map(|weighed| &mut weighed.value)
    }

    pub(super) fn peek(&self, key: &K) -> Option<&V> {
        self.values.peek(key).map(|weighed| &weighed.value)
    }

    /// Updates the value of a key; a new key starts with the default value. Then evicts values until the rest fits.
    pub(super) fn update<R>(&mut self, key: &K, change: impl FnOnce(&mut V) -> R) -> R {
        let mut value = match self.values.pop(key) {
            Some(weighed) => {
                self.size -= weighed.size;
                weighed.value
            }
            None => V::default(),
        };
        let result = change(&mut value);
        if let Some(bytes) = value.bytes() {
            let cost = OVERHEAD + bytes;
            self.size += cost;
            self.values.put(key.clone(), SizedValue { value, size: cost });
            self.evict_to_limit();
        }
        result
    }

    /// Makes the key the next to be evicted.
    pub(super) fn demote(&mut self, key: &K) {
        self.values.demote(key);
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Evicts the least recently used values until the rest fits. An entry that must stay then has only the size `OVERHEAD`.
    fn evict_to_limit(&mut self) {
        let mut kept_entries = Vec::new();
        while self.size > self.limit {
            let Some((key, mut least)) = self.values.pop_lru() else { break };
            self.size -= least.size;
            if least.value.evict() {
                self.size += OVERHEAD;
                kept_entries.push((key, least.value));
            }
        }
        for (key, value) in kept_entries {
            self.values.put(key, SizedValue { value, size: OVERHEAD });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Bytes {
        bytes: usize,
        stays: bool,
    }

    impl CacheValue for Bytes {
        fn bytes(&self) -> Option<usize> {
            (self.bytes > 0 || self.stays).then_some(self.bytes)
        }

        fn evict(&mut self) -> bool {
            self.bytes = 0;
            self.stays
        }
    }

    fn put(lru: &mut LruByBytes<u8, Bytes>, key: u8, bytes: usize, stays: bool) {
        lru.update(&key, |value| *value = Bytes { bytes, stays });
    }

    fn keys(lru: &LruByBytes<u8, Bytes>) -> Vec<u8> {
        let mut keys: Vec<_> = lru.values.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn the_least_recently_used_value_is_evicted_first() {
        let mut lru = LruByBytes::new(10_000);
        for key in 1..=3 {
            put(&mut lru, key, 2_000, false);
        }
        assert_eq!((keys(&lru), lru.size()), (vec![1, 2, 3], 3 * (2_000 + OVERHEAD)));
        lru.get(&1);
        put(&mut lru, 4, 2_000, false);
        assert_eq!((keys(&lru), lru.size()), (vec![1, 3, 4], 3 * (2_000 + OVERHEAD)));
    }

    #[test]
    fn an_update_changes_the_size_and_a_value_without_bytes_is_removed() {
        let mut lru = LruByBytes::new(10_000);
        put(&mut lru, 1, 5_000, false);
        put(&mut lru, 1, 3_000, false);
        assert_eq!(lru.size(), OVERHEAD + 3_000);
        put(&mut lru, 1, 0, false);
        assert_eq!((keys(&lru), lru.size()), (vec![], 0));
    }

    #[test]
    fn an_entry_that_must_stay_stays_without_its_bytes() {
        let mut lru = LruByBytes::new(2 * OVERHEAD + 100);
        put(&mut lru, 1, 100, true);
        for key in 2..9 {
            put(&mut lru, key, 1, false);
        }
        assert_eq!((keys(&lru), lru.size()), (vec![1, 8], 2 * OVERHEAD + 1));
    }

    #[test]
    fn a_demoted_value_is_evicted_before_older_ones() {
        let mut lru = LruByBytes::new(2 * OVERHEAD + 2);
        put(&mut lru, 1, 1, false);
        put(&mut lru, 2, 1, false);
        lru.demote(&2);
        put(&mut lru, 3, 1, false);
        assert_eq!(keys(&lru), [1, 3]);
    }
}
