use std::hash::Hash;

use super::UNBOUNDED_SHARE;
use super::lru::{CacheValue, LruByBytes, OVERHEAD};

/// A cache of up to `limit` bytes with partitions for bounded and unbounded keys. Clients can choose any number of unbounded
/// keys, so these use only the part of their share that bounded keys leave free, and never evict bounded keys.
#[derive(Debug)]
pub(super) struct PartitionedLru<K: Hash + Eq, V> {
    bounded: LruByBytes<K, V>,
    unbounded: LruByBytes<K, V>,
    is_unbounded: fn(&K) -> bool,
    limit: usize,
}

impl<K: Clone + Hash + Eq, V: CacheValue> PartitionedLru<K, V> {
    pub(super) fn new(limit: usize, is_unbounded: fn(&K) -> bool) -> Self {
        Self {
            bounded: LruByBytes::new(limit),
            unbounded: LruByBytes::new(limit / UNBOUNDED_SHARE),
            is_unbounded,
            limit,
        }
    }

    pub(super) fn max_value_size(&self) -> usize {
        self.limit.saturating_sub(OVERHEAD)
    }

    pub(super) fn is_off(&self) -> bool {
        self.limit == 0
    }

    pub(super) fn get(&mut self, key: &K) -> Option<&mut V> {
        self.partition(key).get(key)
    }

    pub(super) fn peek(&self, key: &K) -> Option<&V> {
        if (self.is_unbounded)(key) { self.unbounded.peek(key) } else { self.bounded.peek(key) }
    }

    pub(super) fn update<R>(&mut self, key: &K, change: impl FnOnce(&mut V) -> R) -> R {
        let result = self.partition(key).update(key, change);
        let available = self.limit.saturating_sub(self.bounded.size());
        self.unbounded.set_limit(available.min(self.limit / UNBOUNDED_SHARE));
        result
    }

    pub(super) fn demote(&mut self, key: &K) {
        self.partition(key).demote(key);
    }

    pub(super) fn size(&self) -> usize {
        self.bounded.size() + self.unbounded.size()
    }

    fn partition(&mut self, key: &K) -> &mut LruByBytes<K, V> {
        if (self.is_unbounded)(key) { &mut self.unbounded } else { &mut self.bounded }
    }
}
