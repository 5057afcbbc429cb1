use std::hash::Hash;

use lru::LruCache;

/// A map whose values take up to `limit` bytes in total. If they take more, the least recently used one is dropped first.
#[derive(Debug)]
pub(super) struct LruByBytes<K: Hash + Eq, V> {
    values: LruCache<K, Weighed<V>>,
    /// How many bytes the values take now.
    size: usize,
    limit: usize,
}

/// A value of an [`LruByBytes`].
pub(super) trait Value: Default {
    /// Returns how many bytes the value takes; `None` if the value is not worth keeping.
    fn bytes(&self) -> Option<usize>;

    /// Drops the bytes of the value; returns whether the rest of it must stay.
    fn evict(&mut self) -> bool;
}

#[derive(Debug)]
struct Weighed<V> {
    value: V,
    weight: usize,
}

/// About how many bytes a value takes in addition to its own.
pub(super) const OVERHEAD: usize = 512;

impl<K: Clone + Hash + Eq, V: Value> LruByBytes<K, V> {
    pub(super) fn new(limit: usize) -> Self {
        Self { values: LruCache::unbounded(), size: 0, limit }
    }

    /// Changes the limit, and drops values until the others fit.
    pub(super) fn limit_to(&mut self, limit: usize) {
        self.limit = limit;
        self.make_room();
    }

    /// Returns the value of a key and marks it as used. The caller must not change how many bytes it takes.
    pub(super) fn get(&mut self, key: &K) -> Option<&mut V> {
        self.values.get_mut(key).map(|weighed| &mut weighed.value)
    }

    /// Returns the value of a key without marking it as used.
    pub(super) fn peek(&self, key: &K) -> Option<&V> {
        self.values.peek(key).map(|weighed| &weighed.value)
    }

    /// Changes the value of a key, which starts as the default, and drops other values until all fit.
    pub(super) fn change<R>(&mut self, key: &K, change: impl FnOnce(&mut V) -> R) -> R {
        let mut value = match self.values.pop(key) {
            Some(weighed) => {
                self.size -= weighed.weight;
                weighed.value
            }
            None => V::default(),
        };
        let result = change(&mut value);
        if let Some(bytes) = value.bytes() {
            let weight = OVERHEAD + bytes;
            self.size += weight;
            self.values.put(key.clone(), Weighed { value, weight });
            self.make_room();
        }
        result
    }

    /// Makes the value of a key the first to be dropped.
    pub(super) fn demote(&mut self, key: &K) {
        self.values.demote(key);
    }

    /// Returns how many bytes the values take.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn make_room(&mut self) {
        let mut staying = Vec::new();
        while self.size > self.limit {
            let Some((key, mut least)) = self.values.pop_lru() else { break };
            self.size -= least.weight;
            if least.value.evict() {
                self.size += OVERHEAD;
                staying.push((key, least.value));
            }
        }
        for (key, value) in staying {
            self.values.put(key, Weighed { value, weight: OVERHEAD });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of so many bytes; it may have to stay in the map.
    #[derive(Debug, Default)]
    struct Bytes {
        bytes: usize,
        stays: bool,
    }

    impl Value for Bytes {
        fn bytes(&self) -> Option<usize> {
            (self.bytes > 0 || self.stays).then_some(self.bytes)
        }

        fn evict(&mut self) -> bool {
            self.bytes = 0;
            self.stays
        }
    }

    fn put(lru: &mut LruByBytes<u8, Bytes>, key: u8, bytes: usize, stays: bool) {
        lru.change(&key, |value| *value = Bytes { bytes, stays });
    }

    fn keys(lru: &LruByBytes<u8, Bytes>) -> Vec<u8> {
        let mut keys: Vec<_> = lru.values.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn what_was_not_asked_for_the_longest_goes_first() {
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
    fn a_value_that_changes_weighs_what_it_weighs_now_and_one_without_bytes_is_gone() {
        let mut lru = LruByBytes::new(10_000);
        put(&mut lru, 1, 5_000, false);
        put(&mut lru, 1, 3_000, false);
        assert_eq!(lru.size(), OVERHEAD + 3_000);
        put(&mut lru, 1, 0, false);
        assert_eq!((keys(&lru), lru.size()), (vec![], 0));
    }

    #[test]
    fn what_must_stay_does_and_gives_up_its_bytes() {
        let mut lru = LruByBytes::new(2 * OVERHEAD + 100);
        put(&mut lru, 1, 100, true);
        for key in 2..9 {
            put(&mut lru, key, 1, false);
        }
        assert_eq!((keys(&lru), lru.size()), (vec![1, 8], 2 * OVERHEAD + 1));
    }

    #[test]
    fn what_is_demoted_makes_room_before_what_is_older() {
        let mut lru = LruByBytes::new(2 * OVERHEAD + 2);
        put(&mut lru, 1, 1, false);
        put(&mut lru, 2, 1, false);
        lru.demote(&2);
        put(&mut lru, 3, 1, false);
        assert_eq!(keys(&lru), [1, 3]);
    }
}
