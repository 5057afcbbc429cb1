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

/// Something that can be kept.
pub(super) trait Keep {
    /// Whether somebody waits for it, so that it stays whatever else is there.
    fn is_awaited(&self) -> bool;
}

#[derive(Debug)]
struct Weighed<V> {
    value: Arc<V>,
    weight: usize,
}

/// What keeping something takes beside its bytes, about.
const OVERHEAD: usize = 512;

impl<K: Clone + Hash + Eq, V: Keep> Shelf<K, V> {
    pub(super) fn new(limit: usize) -> Self {
        Self { kept: LruCache::unbounded(), size: 0, limit }
    }

    /// How many bytes one thing can have at most.
    pub(super) fn room(&self) -> usize {
        self.limit.saturating_sub(OVERHEAD)
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

    /// Notes how many bytes something takes now, if it is still kept. What is larger than all that may be kept makes no
    /// room for itself, but goes.
    pub(super) fn weigh(&mut self, key: &K, value: &Arc<V>, bytes: usize) {
        if bytes > self.room() {
            return self.remove(key, value);
        }
        let weighed = self.kept.peek_mut(key).filter(|weighed| Arc::ptr_eq(&weighed.value, value));
        if let Some(weighed) = weighed {
            let weight = OVERHEAD + bytes;
            let before = std::mem::replace(&mut weighed.weight, weight);
            self.changed(before, weight);
        }
    }

    /// Has something go before all else, if it is still kept.
    pub(super) fn demote(&mut self, key: &K, value: &Arc<V>) {
        if self.is_kept(key, value) {
            self.kept.demote(key);
        }
    }

    /// Keeps something no longer, if it still is.
    fn remove(&mut self, key: &K, value: &Arc<V>) {
        if self.is_kept(key, value) {
            let removed = self.kept.pop(key).map_or(0, |weighed| weighed.weight);
            self.changed(removed, 0);
        }
    }

    fn is_kept(&self, key: &K, value: &Arc<V>) -> bool {
        self.kept.peek(key).is_some_and(|weighed| Arc::ptr_eq(&weighed.value, value))
    }

    /// How many bytes are kept.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn changed(&mut self, before: usize, now: usize) {
        self.size = self.size - before + now;
        let mut awaited = Vec::new();
        while self.size > self.limit {
            let Some((key, least)) = self.kept.pop_lru() else { break };
            self.size -= least.weight;
            if least.value.is_awaited() {
                awaited.push((key, least));
            }
        }
        for (key, weighed) in awaited {
            self.size += weighed.weight;
            self.kept.put(key, weighed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it is awaited.
    impl Keep for bool {
        fn is_awaited(&self) -> bool {
            *self
        }
    }

    fn kept(shelf: &Shelf<u8, bool>) -> Vec<u8> {
        let mut keys: Vec<_> = shelf.kept.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn what_was_not_asked_for_the_longest_goes_first() {
        let mut shelf = Shelf::new(10_000);
        for key in 1..=3 {
            let value = shelf.put(&key, false);
            shelf.weigh(&key, &value, 2_000);
        }
        assert_eq!((kept(&shelf), shelf.size()), (vec![1, 2, 3], 3 * (2_000 + OVERHEAD)));
        shelf.get(&1);
        let value = shelf.put(&4, false);
        shelf.weigh(&4, &value, 2_000);
        assert_eq!((kept(&shelf), shelf.size()), (vec![1, 3, 4], 3 * (2_000 + OVERHEAD)));
    }

    #[test]
    fn what_is_larger_than_all_that_may_be_kept_is_not_and_makes_no_room_for_itself() {
        let mut shelf = Shelf::new(10_000);
        let other = shelf.put(&2, false);
        shelf.weigh(&2, &other, 2_000);
        let value = shelf.put(&1, false);
        shelf.weigh(&1, &value, 10_000);
        assert_eq!((kept(&shelf), shelf.size()), (vec![2], 2_000 + OVERHEAD));
        shelf.weigh(&1, &value, 5);
        assert_eq!(shelf.size(), 2_000 + OVERHEAD);
    }

    #[test]
    fn what_is_awaited_stays_whatever_else_is_there() {
        let mut shelf = Shelf::new(2 * OVERHEAD);
        shelf.put(&1, true);
        for key in 2..9 {
            shelf.put(&key, false);
        }
        assert_eq!((kept(&shelf), shelf.size()), (vec![1, 8], 2 * OVERHEAD));
    }

    #[test]
    fn what_is_demoted_makes_room_before_what_is_older() {
        let mut shelf = Shelf::new(2 * OVERHEAD);
        shelf.put(&1, false);
        let demoted = shelf.put(&2, false);
        shelf.demote(&2, &demoted);
        shelf.put(&3, false);
        assert_eq!(kept(&shelf), [1, 3]);
    }

    #[test]
    fn what_was_replaced_weighs_nothing() {
        let mut shelf = Shelf::new(10_000);
        let old = shelf.put(&1, false);
        let new = shelf.put(&1, false);
        shelf.weigh(&1, &old, 5_000);
        assert_eq!(shelf.size(), OVERHEAD);
        shelf.weigh(&1, &new, 5_000);
        assert_eq!(shelf.size(), OVERHEAD + 5_000);
    }
}
