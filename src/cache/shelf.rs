use std::hash::Hash;
use std::sync::Arc;

use lru::LruCache;

/// What is kept, up to so many bytes: of too many what was not asked for the longest goes first.
#[derive(Debug)]
pub(super) struct Shelf<K: Hash + Eq, V> {
    kept: LruCache<K, Weighed<V>>,
    /// How many bytes are kept, and how many may be.
    size: usize,
    limit: usize,
}

#[derive(Debug)]
struct Weighed<V> {
    value: Arc<V>,
    weight: usize,
}

/// What keeping something takes beside its bytes, about.
const OVERHEAD: usize = 512;

impl<K: Clone + Hash + Eq, V> Shelf<K, V> {
    pub(super) fn new(limit: usize) -> Self {
        Self { kept: LruCache::unbounded(), size: 0, limit }
    }

    pub(super) fn keeps_nothing(&self) -> bool {
        self.limit == 0
    }

    pub(super) fn get(&mut self, key: &K) -> Option<&Arc<V>> {
        self.kept.get(key).map(|weighed| &weighed.value)
    }

    /// Keeps something new under a key.
    pub(super) fn put(&mut self, key: &K, value: V) -> Arc<V> {
        let value = Arc::new(value);
        let weighed = Weighed { value: Arc::clone(&value), weight: OVERHEAD };
        let before = self.kept.put(key.clone(), weighed).map_or(0, |before| before.weight);
        self.changed(before, OVERHEAD);
        value
    }

    /// Notes how many bytes something takes now, if it is still kept.
    pub(super) fn weigh(&mut self, key: &K, value: &Arc<V>, bytes: usize) {
        let Some(weighed) = self.kept.peek_mut(key) else { return };
        if Arc::ptr_eq(&weighed.value, value) {
            let weight = OVERHEAD + bytes;
            let before = std::mem::replace(&mut weighed.weight, weight);
            self.changed(before, weight);
        }
    }

    /// How many bytes are kept.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn changed(&mut self, before: usize, now: usize) {
        self.size = self.size - before + now;
        while self.size > self.limit {
            let Some((_, least)) = self.kept.pop_lru() else { break };
            self.size -= least.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(shelf: &Shelf<u8, u64>) -> Vec<u8> {
        let mut keys: Vec<_> = shelf.kept.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn what_was_not_asked_for_the_longest_goes_first() {
        let mut shelf = Shelf::new(10_000);
        for key in 1..=3 {
            let value = shelf.put(&key, 0);
            shelf.weigh(&key, &value, 2_000);
        }
        assert_eq!((kept(&shelf), shelf.size()), (vec![1, 2, 3], 3 * (2_000 + OVERHEAD)));
        shelf.get(&1);
        let value = shelf.put(&4, 0);
        shelf.weigh(&4, &value, 2_000);
        assert_eq!((kept(&shelf), shelf.size()), (vec![1, 3, 4], 3 * (2_000 + OVERHEAD)));
    }

    #[test]
    fn what_is_larger_than_all_that_may_be_kept_is_not() {
        let mut shelf = Shelf::new(10_000);
        let value = shelf.put(&1, 0);
        shelf.weigh(&1, &value, 10_000);
        assert_eq!((kept(&shelf), shelf.size()), (vec![], 0));
        shelf.weigh(&1, &value, 5);
        assert_eq!(shelf.size(), 0);
    }

    #[test]
    fn what_was_replaced_weighs_nothing() {
        let mut shelf = Shelf::new(10_000);
        let old = shelf.put(&1, 0);
        let new = shelf.put(&1, 0);
        shelf.weigh(&1, &old, 5_000);
        assert_eq!(shelf.size(), OVERHEAD);
        shelf.weigh(&1, &new, 5_000);
        assert_eq!(shelf.size(), OVERHEAD + 5_000);
    }
}
